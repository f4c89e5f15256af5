! Robust regression with Huber's loss as a plug-in in Fortran. Labels are numbers; the last parameter is the intercept.
!
!   gfortran -O2 -shared -fPIC examples/plugin/huber.f90 -o libhuber.so
!   starling omd --model plugin:./libhuber.so ...
module huber
  use iso_c_binding
  implicit none

  integer(c_int), parameter :: abi_of_header = 1
  real(c_double), parameter :: bend = 1.0_c_double

  type, bind(c) :: batch_t
    integer(c_size_t) :: rows, features
    type(c_ptr) :: x
    integer(c_size_t) :: stride
    type(c_ptr) :: y
  end type

  type, bind(c) :: model_t
    type(c_funptr) :: dimension, start, gradients, scores, error, destroy
    type(c_ptr) :: self
    integer(c_int) :: classifies
    real(c_double) :: slope
  end type

contains

  integer(c_size_t) function dimension_of(self, features) bind(c)
    type(c_ptr), value :: self
    integer(c_size_t), value :: features
    dimension_of = features + 1
  end function

  integer(c_int) function gradients(self, point, batch, losses, rows) bind(c)
    type(c_ptr), value :: self
    type(batch_t), intent(in) :: batch
    real(c_double), intent(in) :: point(*)
    real(c_double), intent(out) :: losses(*), rows(*)
    real(c_double), pointer :: x(:,:), y(:)
    real(c_double) :: residual, slope
    integer(c_size_t) :: i, p, first
    p = batch%features
    call c_f_pointer(batch%x, x, [batch%stride, batch%rows])
    call c_f_pointer(batch%y, y, [batch%rows])
    do i = 1, batch%rows
      residual = dot_product(point(1:p), x(1:p, i)) + point(p + 1) - y(i)
      slope = max(-bend, min(bend, residual))
      losses(i) = slope * residual - 0.5_c_double * slope**2
      first = (i - 1) * (p + 1)
      rows(first + 1:first + p) = slope * x(1:p, i)
      rows(first + p + 1) = slope
    end do
    gradients = 0
  end function

  integer(c_int) function scores(self, point, batch, predictions) bind(c)
    type(c_ptr), value :: self
    type(batch_t), intent(in) :: batch
    real(c_double), intent(in) :: point(*)
    real(c_double), intent(out) :: predictions(*)
    real(c_double), pointer :: x(:,:)
    integer(c_size_t) :: i, p
    p = batch%features
    call c_f_pointer(batch%x, x, [batch%stride, batch%rows])
    do i = 1, batch%rows
      predictions(i) = dot_product(point(1:p), x(1:p, i)) + point(p + 1)
    end do
    scores = 0
  end function

  integer(c_int) function starling_plugin(abi, options, model) bind(c, name="starling_plugin")
    integer(c_int), value :: abi
    type(c_ptr), value :: options
    type(model_t), intent(out) :: model
    starling_plugin = 1
    if (abi /= abi_of_header) return
    model = model_t(c_funloc(dimension_of), c_null_funptr, c_funloc(gradients), c_funloc(scores), &
                    c_null_funptr, c_null_funptr, c_null_ptr, 0, 0.0_c_double)
    starling_plugin = 0
  end function

end module
