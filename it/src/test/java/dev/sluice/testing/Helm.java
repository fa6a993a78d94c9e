package dev.sluice.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.opentest4j.TestAbortedException;

/** The program Helm: named by the environment, on the path, cached, or built with Go. */
public final class Helm {

  /**
   * As Helm's own build sets them. Without a version of Kubernetes, Helm takes itself to be made
   * for 1.20 and refuses the chart where it asks no cluster, as {@code helm template} does.
   */
  private static final String FLAGS =
      Stream.of("chartutil", "lint/rules")
          .flatMap(
              part ->
                  Stream.of(
                      "-X helm.sh/helm/v3/pkg/" + part + ".k8sVersionMajor=1",
                      "-X helm.sh/helm/v3/pkg/" + part + ".k8sVersionMinor=37"))
          .collect(Collectors.joining(" "));

  private static final GoProgram PROGRAM =
      new GoProgram(
          "helm",
          "SLUICE_HELM",
          Path.of("tools", "helm"),
          "helm.sh/helm/v3",
          "helm.sh/helm/v3/cmd/helm",
          List.of("-ldflags", FLAGS));

  private static final Duration RUN = Duration.ofMinutes(5);

  private final Path program;
  private final Map<String, String> environment;

  private Helm(Path program, Map<String, String> environment) {
    this.program = program;
    this.environment = environment;
  }

  /**
   * Helm, for the cluster of a kubeconfig.
   *
   * @param home where it keeps what it keeps
   * @throws TestAbortedException when there is neither Helm nor Go
   */
  public static Helm find(Path kubeconfig, Path home) throws IOException, InterruptedException {
    try {
      return new Helm(
          PROGRAM.find(),
          Map.of(
              "KUBECONFIG", kubeconfig.toString(),
              "HELM_CACHE_HOME", home.resolve("cache").toString(),
              "HELM_CONFIG_HOME", home.resolve("config").toString(),
              "HELM_DATA_HOME", home.resolve("data").toString()));
    } catch (GoProgram.MissingException e) {
      throw new TestAbortedException("the chart is not tried: " + e.getMessage());
    }
  }

  /** Runs it and expects it to succeed; returns what it printed. */
  public String succeed(String... arguments) throws IOException, InterruptedException {
    GoProgram.Run run = run(arguments);
    if (run.code() != 0) {
      throw new AssertionError(
          "helm " + String.join(" ", arguments) + ": " + run.code() + "\n" + run.errors());
    }
    return run.output();
  }

  /** Runs it to its end. */
  public GoProgram.Run run(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(List.of(arguments));
    return GoProgram.run(command, environment, RUN);
  }
}
