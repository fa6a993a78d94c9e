package dev.sluice.lab.demo;

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
    return ScenarioManifests.text("multi-cluster/" + file);
  }
}
