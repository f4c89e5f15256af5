# Reads a run of starling, applies its model to a table, and fits the same model without privacy by R's own means.
#
#   Rscript examples/r/read_run.R RUN TABLE.csv LABEL
#
# RUN is the directory of a run of a linear model with one score, TABLE has the columns that it has learned from. Needs
# rhdf5 (Debian: r-bioc-rhdf5). R reads matrices of HDF5 files transposed: weights are features x scores here.
library(rhdf5)

read_model <- function(run) {
  file <- file.path(run, "model.h5")
  attributes <- h5readAttributes(file, "/")
  if (attributes$kind != "linear" || attributes$scores != 1) stop("a linear model with one score is needed: ", file)
  inside <- h5ls(file)
  has <- function(name) any(paste(inside$group, inside$name, sep = "/") == name)
  model <- list(
    features = as.character(h5read(file, "feature")),
    weights = as.vector(h5read(file, "parameters/weights")),
    intercept = if (has("/parameters/intercept")) as.vector(h5read(file, "parameters/intercept")) else 0,
    link = attributes$link
  )
  preparation <- h5readAttributes(file, "preparation")
  beyond <- c(
    "columns of text (--encode)" = has("/preparation/categories"), "missing values (--missing)" = !is.null(preparation$missing),
    "pictures (--features hog)" = preparation$description == "hog", "a standardised label" = !is.null(preparation$label_sd),
    "constants of each client" = identical(attributes$own_constants, "yes"), "a bound of rows" = !is.null(attributes$row_bound)
  )
  if (any(beyond)) stop(paste(names(beyond)[beyond], collapse = ", "), ": not handled here, but by starling predict")
  p <- length(model$features)
  model$mean <- if (has("/preparation/mean")) as.vector(h5read(file, "preparation/mean")) else rep(0, p)
  model$sd <- if (has("/preparation/sd")) as.vector(h5read(file, "preparation/sd")) else rep(1, p)
  usual <- if (identical(preparation$clipped, "yes")) 1 else Inf  # as version 0.2 wrote it
  model$clip <- if (has("/preparation/clip")) as.vector(h5read(file, "preparation/clip")) else rep(usual, p)
  model$scale <- if (is.null(preparation$scale)) 1 else preparation$scale
  model
}

prepared <- function(model, table) {
  x <- as.matrix(table[, model$features])
  x <- sweep(sweep(x, 2, model$mean), 2, model$sd, "/")
  x <- sweep(sweep(x, 2, model$clip, pmin), 2, -model$clip, pmax)
  x * model$scale
}

# Scores and, where the loss has them, probabilities: those of `starling predict`.
apply_model <- function(model, table) {
  score <- as.vector(prepared(model, table) %*% model$weights) + model$intercept
  if (model$link == "logit") data.frame(score = score, probability = plogis(score)) else data.frame(score = score)
}

words <- commandArgs(trailingOnly = TRUE)
if (length(words) != 3) stop("usage: Rscript read_run.R RUN TABLE.csv LABEL")
run <- words[1]
table <- read.csv(words[2], check.names = FALSE)
label <- table[[words[3]]]

history <- read.csv(file.path(run, "history.csv"))
cat("rounds on record:", nrow(history), "up to", max(history$rounds), "\n")

model <- read_model(run)
predictions <- apply_model(model, table)
write.csv(predictions, file.path(run, "predictions-r.csv"), row.names = FALSE)

coefficients <- data.frame(feature = c(model$features, "(intercept)"), private = c(model$weights, model$intercept))
if (model$link == "logit") {
  x <- as.data.frame(prepared(model, table))
  fitted <- glm(label01 ~ ., family = binomial, data = cbind(x, label01 = as.numeric(label == max(label))))
  coefficients$without_privacy <- c(coef(fitted)[-1], coef(fitted)[1])
  right <- mean((predictions$probability > 0.5) == (label == max(label)))
  cat(sprintf("accuracy of the private model on this table: %.3f\n", right))
}
print(coefficients, row.names = FALSE, digits = 4)

# Regression tables of `starling infer`.
intervals <- file.path(run, "coefficients.csv")
if (file.exists(intervals)) print(read.csv(intervals), row.names = FALSE, digits = 4)
