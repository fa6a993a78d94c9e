package dev.sluice.lab.bench;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The figures of a run with the {@link Floor}, as {@code --json} wrote them: the denominators of
 * ratios.
 *
 * @param wallSeconds the wall time
 * @param apiServerCpuMillis processor time of the API server, per workload
 * @param writes writes of the process that admits, per workload
 */
record FloorRatios(double wallSeconds, double apiServerCpuMillis, double writes) {

  /**
   * Reads a file of figures.
   *
   * @throws BenchException when it is missing or has other contents
   */
  static FloorRatios read(Path file) {
    try {
      JsonNode figures = JsonMappers.JSON.readTree(file.toFile());
      return new FloorRatios(
          positive(file, figures, "wallSeconds"),
          positive(file, figures, "apiServerCpuMillisPerWorkload"),
          positive(file, figures, "operatorWritesPerWorkload"));
    } catch (IOException e) {
      throw new BenchException("can't read figures from " + file + ": " + e.getMessage(), e);
    }
  }

  private static double positive(Path file, JsonNode figures, String field) {
    double value = figures.path(field).asDouble();
    if (value <= 0) {
      throw new BenchException(file + ": " + field + " must be greater than 0");
    }
    return value;
  }
}
