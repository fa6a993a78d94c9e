package dev.sluice.lab.demo;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * The manifests of the scenario, as users write them.
 *
 * @param version the API version of flavors and queues
 * @param form how Jobs name their queue
 */
public record ScenarioManifests(Version version, Form form) {

  /** The API versions. */
  public enum Version {
    V1ALPHA2,
    V1BETA1,
    V1BETA2
  }

  /** How a Job names its queue. */
  public enum Form {
    ANNOTATION,
    LABEL
  }

  /** Namespace, flavors and queues. */
  String setup() {
    return read(version.name().toLowerCase(Locale.ROOT) + "/01-setup.yaml");
  }

  /** A Job of 3 CPUs that tolerates spot nodes. */
  String job() {
    return original("02-job.yaml");
  }

  /** A Job that uses the whole {@code ondemand} quota. */
  String filler() {
    return original("03-filler.yaml");
  }

  /** A Job without tolerations. */
  String jobWithoutToleration() {
    return original("04-job-without-toleration.yaml");
  }

  /** A Job of 3001 CPUs, one more than the quota. */
  String largerThanThePool() {
    return read(folder() + "/05-larger-than-the-pool.yaml");
  }

  /** A Job that is submitted with {@code suspend: false}. */
  String submittedAsRunning() {
    return read(folder() + "/06-job-submitted-as-running.yaml");
  }

  private String folder() {
    return form == Form.LABEL ? "with-label" : "with-annotation";
  }

  /**
   * The Jobs with an annotation are in the directory of the oldest version, for which they were
   * written.
   */
  private String original(String file) {
    return read((form == Form.LABEL ? "with-label/" : "v1alpha2/") + file);
  }

  private static String read(String file) {
    return text("first-job/" + file);
  }

  /** A manifest of a scenario, by its path below {@code scenarios}. */
  static String text(String file) {
    String path = "/scenarios/" + file;
    try (InputStream in = ScenarioManifests.class.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException(path + " is missing from the program");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String toString() {
    return version.name().toLowerCase(Locale.ROOT)
        + ", queue name as "
        + form.name().toLowerCase(Locale.ROOT);
  }
}
