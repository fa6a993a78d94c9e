package dev.sluice.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A program that tests run: named by the environment, on the path, in the cache of this machine, or
 * built with Go from module files that pin it.
 *
 * @param name the file name of the program
 * @param variable the environment variable that may name the file
 * @param moduleFiles the directory with {@code go.mod} and {@code go.sum}
 * @param module the Go module whose version is that of the program
 * @param mainPackage the Go package to be built
 * @param flags further flags of the build
 */
public record GoProgram(
    String name,
    String variable,
    Path moduleFiles,
    String module,
    String mainPackage,
    List<String> flags) {

  private static final Duration BUILD = Duration.ofMinutes(45);

  /** Copies the list. */
  public GoProgram {
    flags = List.copyOf(flags);
  }

  /** The program is nowhere, and can't be built. */
  public static final class MissingException extends Exception {
    private static final long serialVersionUID = 1L;

    MissingException(String message) {
      super(message);
    }
  }

  /**
   * What a run printed.
   *
   * @param code the exit code
   */
  public record Run(int code, String output, String errors) {}

  /**
   * The executable file; the first call on a machine may build it, which takes minutes.
   *
   * @throws MissingException with the reason when it is nowhere and can't be built
   */
  public Path find() throws IOException, InterruptedException, MissingException {
    Path cached = cached();
    Path program = named(variable).or(() -> onPath(name)).orElse(cached);
    if (!Files.isExecutable(program)) {
      if (!program.equals(cached)) {
        throw new MissingException(variable + " names no program: " + program);
      }
      Path go =
          onPath("go")
              .orElseThrow(
                  () ->
                      new MissingException(
                          "no %s in %s, on the PATH or at %s, and no Go to build it"
                              .formatted(name, variable, program)));
      buildOnce(go, program);
    }
    return program;
  }

  /** Runs a command to its end. */
  public static Run run(List<String> command, Map<String, String> environment, Duration limit)
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
      if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new AssertionError(command + " takes longer than " + limit);
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

  private Path cached() {
    Path caches =
        named("XDG_CACHE_HOME").orElseGet(() -> Path.of(System.getProperty("user.home"), ".cache"));
    String system = System.getProperty("os.name").toLowerCase(Locale.ROOT).replace(" ", "");
    return caches.resolve(
        Path.of(
            "sluice",
            name + "-" + version() + "-" + system + "-" + System.getProperty("os.arch"),
            name));
  }

  private String version() {
    Pattern requirement = Pattern.compile("(?m)^\\s*" + Pattern.quote(module) + " (v[0-9.]+)");
    try {
      Matcher version =
          requirement.matcher(
              Files.readString(moduleFiles.resolve("go.mod"), StandardCharsets.UTF_8));
      if (!version.find()) {
        throw new IllegalStateException(moduleFiles + "/go.mod names no version of " + module);
      }
      return version.group(1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Builds the program unless somebody else did so meanwhile: tests in this process and in others
   * may ask at the same time, and each build takes all processors for minutes.
   */
  void buildOnce(Path go, Path program) throws IOException, InterruptedException, MissingException {
    Files.createDirectories(program.getParent());
    // A file lock excludes other processes only; the monitor excludes the threads of this one.
    synchronized (GoProgram.class) {
      try (FileChannel lockFile =
              FileChannel.open(
                  program.resolveSibling(name + ".lock"),
                  StandardOpenOption.CREATE,
                  StandardOpenOption.WRITE);
          FileLock held = lockFile.lock()) {
        if (held.isValid() && !Files.isExecutable(program)) {
          build(go, program);
        }
      }
    }
  }

  private void build(Path go, Path program)
      throws IOException, InterruptedException, MissingException {
    Path made = Files.createTempFile(program.getParent(), name, ".new");
    List<String> command =
        new ArrayList<>(List.of(go.toString(), "-C", moduleFiles.toString(), "build"));
    command.addAll(flags);
    command.addAll(List.of("-o", made.toString(), mainPackage));
    Run run = run(command, Map.of("CGO_ENABLED", "0"), BUILD);
    if (run.code() != 0) {
      Files.deleteIfExists(made);
      throw new MissingException(
          "no " + name + " is there, and Go couldn't build it: " + run.errors());
    }
    Files.move(made, program, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
