package dev.sluice.lab.demo;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The manifests of the multi-cluster scenario, as users write them. */
final class MultiClusterManifests {

  private MultiClusterManifests() {}

  /** The setup manifest of a cluster. */
  static String setup(String cluster) {
    return read(cluster + "/setup.yaml");
  }

  static String small() {
    return read("jobs/01-small.yaml");
  }

  static String large() {
    return read("jobs/02-large.yaml");
  }

  static String gpu() {
    return read("jobs/03-gpu.yaml");
  }

  /** The small Job under another name, whose pods run for the given time. */
  static String small(String name, String runFor) {
    return small()
        .replace("name: small", "name: " + name)
        .replace(
            "  template:\n",
            "  template:\n    metadata: {annotations: {sluice.dev/run-for: " + runFor + "}}\n");
  }

  private static String read(String file) {
    String path = "/scenarios/multi-cluster/" + file;
    try (InputStream in = MultiClusterManifests.class.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException(path + " is missing from the program");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
