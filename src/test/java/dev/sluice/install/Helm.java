package dev.sluice.install;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.opentest4j.TestAbortedException;

/** The program Helm: named by the environment, on the path, cached, or built with Go. */
final class Helm {

  private static final Path MODULE = Path.of("tools", "helm");
  private static final Pattern VERSION = Pattern.compile("helm\\.sh/helm/v3 (v[0-9.]+)");

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

  private static final Duration BUILD = Duration.ofMinutes(45);
  private static final Duration RUN = Duration.ofMinutes(5);

  /**
   * What a run printed.
   *
   * @param code the exit code
   */
  record Run(int code, String output, String errors) {}

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
  static Helm find(Path kubeconfig, Path home) throws IOException, InterruptedException {
    Path program =
        named("SLUICE_HELM")
            .or(() -> onPath("helm"))
            .or(() -> Optional.of(cached()).filter(Files::isExecutable))
            .orElseGet(() -> cached());
    if (!Files.isExecutable(program)) {
      build(program);
    }
    return new Helm(
        program,
        Map.of(
            "KUBECONFIG", kubeconfig.toString(),
            "HELM_CACHE_HOME", home.resolve("cache").toString(),
            "HELM_CONFIG_HOME", home.resolve("config").toString(),
            "HELM_DATA_HOME", home.resolve("data").toString()));
  }

  /** Runs it and expects it to succeed; returns what it printed. */
  String succeed(String... arguments) throws IOException, InterruptedException {
    Run run = run(arguments);
    if (run.code() != 0) {
      throw new AssertionError(
          "helm " + String.join(" ", arguments) + ": " + run.code() + "\n" + run.errors());
    }
    return run.output();
  }

  /** Runs it to its end. */
  Run run(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(List.of(arguments));
    return run(command, environment, RUN);
  }

  private static Run run(List<String> command, Map<String, String> environment, Duration patience)
      throws IOException, InterruptedException {
    Path output = Files.createTempFile("sluice-run", ".out");
    Path errors = Files.createTempFile("sluice-run", ".err");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .redirectOutput(output.toFile())
              .redirectError(errors.toFile());
      builder.environment().putAll(environment);
      Process process = builder.start();
      if (!process.waitFor(patience.toSeconds(), TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new AssertionError(command + " takes longer than " + patience);
      }
      return new Run(process.exitValue(), Files.readString(output), Files.readString(errors));
    } finally {
      Files.delete(output);
      Files.delete(errors);
    }
  }

  private static Optional<Path> named(String variable) {
    return Optional.ofNullable(System.getenv(variable)).filter(it -> !it.isEmpty()).map(Path::of);
  }

  private static Optional<Path> onPath(String name) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .filter(directory -> !directory.isEmpty())
        .map(directory -> Path.of(directory, name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  private static Path cached() {
    Path caches =
        named("XDG_CACHE_HOME").orElseGet(() -> Path.of(System.getProperty("user.home"), ".cache"));
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).replace(" ", "");
    return caches.resolve(
        Path.of(
            "sluice",
            "helm-" + version() + "-" + system + "-" + System.getProperty("os.arch"),
            "helm"));
  }

  private static String version() {
    try {
      Matcher version =
          VERSION.matcher(Files.readString(MODULE.resolve("go.mod"), StandardCharsets.UTF_8));
      if (!version.find()) {
        throw new IllegalStateException(MODULE + "/go.mod names no version of Helm");
      }
      return version.group(1);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static void build(Path program) throws IOException, InterruptedException {
    Path go =
        onPath("go")
            .orElseThrow(
                () ->
                    new TestAbortedException(
                        "the chart is not tried: no Helm in SLUICE_HELM, on the PATH or at "
                            + program
                            + ", and no Go to build it"));
    Files.createDirectories(program.getParent());
    Path made = Files.createTempFile(program.getParent(), "helm", ".new");
    Run run =
        run(
            List.of(
                go.toString(),
                "-C",
                MODULE.toString(),
                "build",
                "-ldflags",
                FLAGS,
                "-o",
                made.toString(),
                "helm.sh/helm/v3/cmd/helm"),
            Map.of(),
            BUILD);
    if (run.code() != 0) {
      Files.deleteIfExists(made);
      throw new TestAbortedException(
          "the chart is not tried: no Helm is there, and Go couldn't build it: " + run.errors());
    }
    Files.move(made, program, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
