/// File formats of pictures.
#pragma once

namespace starling {

/// The formats in which a picture is drawn, each a file of its own.
struct PictureFormats {
  bool svg = true;
  bool png = false;
  bool pdf = false;
};

}  // namespace starling
