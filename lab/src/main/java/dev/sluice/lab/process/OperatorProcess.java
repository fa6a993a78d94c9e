package dev.sluice.lab.process;

import dev.sluice.app.JvmOptions;
import dev.sluice.app.Main;
import dev.sluice.lab.controlplane.ControlPlaneException;
import dev.sluice.lab.controlplane.Lifetime;
import dev.sluice.lab.controlplane.ManagedProcess;
import dev.sluice.lab.controlplane.Poller;
import dev.sluice.lab.controlplane.ProcessLauncher;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The operator in a process of its own, with the class path of this one. It ends when it is
 * stopped, killed or closed, and at the latest with this process, in whatever way that ends.
 */
public final class OperatorProcess implements AutoCloseable {

  private static final String JAR = "sluice.jar";

  /**
   * The environment of the image. Java stops threads by SIGUSR2 unless it is told of another
   * signal, and its profiler saw no thread while the operator handles that one.
   */
  private static final Map<String, String> ENVIRONMENT =
      Map.of("MALLOC_ARENA_MAX", "2", "_JAVA_SR_SIGNUM", "41");

  private static final Duration READY_LIMIT = Duration.ofMinutes(5);
  private static final Duration STOP_LIMIT = Duration.ofSeconds(20);
  private static final Duration PROBE_LIMIT = Duration.ofSeconds(2);

  private final OperatorSettings settings;
  private final ManagedProcess process;
  private final InstantSource clock;
  private final HttpClient http;

  private OperatorProcess(
      OperatorSettings settings, ManagedProcess process, InstantSource clock, HttpClient http) {
    this.settings = settings;
    this.process = process;
    this.clock = clock;
    this.http = http;
  }

  /**
   * Starts an operator that first installs what it needs, and returns at once.
   *
   * @param name its log is {@code <name>.log} and its configuration {@code <name>.yaml}
   * @param kubeconfig the cluster it works for
   * @param directory where these files go; an existing log is continued
   * @param furtherArguments of the command {@code operator}
   * @throws ControlPlaneException when it can't be started
   */
  public static OperatorProcess start(
      String name,
      Path kubeconfig,
      OperatorSettings settings,
      Path directory,
      List<String> furtherArguments) {
    return start(
        name, kubeconfig, settings, directory, furtherArguments, Lifetime.WITH_THIS_PROCESS);
  }

  /**
   * The same with a lifetime: one that lives until it is stopped goes on after this process, and
   * ends when it loses its lease, as it does when the cluster is gone.
   */
  public static OperatorProcess start(
      String name,
      Path kubeconfig,
      OperatorSettings settings,
      Path directory,
      List<String> furtherArguments,
      Lifetime lifetime) {
    List<String> command = command(List.of(), installing(furtherArguments));
    return launch(name, kubeconfig, settings, directory, command, lifetime);
  }

  /**
   * Starts one that ends with this process, with options of the Java virtual machine, such as
   * {@code -Xmx256m}, which count more than those of the environment.
   */
  public static OperatorProcess start(
      String name,
      Path kubeconfig,
      OperatorSettings settings,
      Path directory,
      List<String> furtherArguments,
      List<String> jvmOptions) {
    List<String> command = command(jvmOptions, installing(furtherArguments));
    return launch(name, kubeconfig, settings, directory, command, Lifetime.WITH_THIS_PROCESS);
  }

  /** Starts an operator that finds installed what it needs, as in a cluster. */
  public static OperatorProcess startInstalled(
      String name, Path kubeconfig, OperatorSettings settings, Path directory) {
    List<String> command = command(List.of(), List.of());
    return launch(name, kubeconfig, settings, directory, command, Lifetime.WITH_THIS_PROCESS);
  }

  private static List<String> installing(List<String> furtherArguments) {
    return Stream.concat(Stream.of("--install"), furtherArguments.stream()).toList();
  }

  /** The command of an operator, without its kubeconfig and its configuration file. */
  private static List<String> command(List<String> jvmOptions, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(JavaCommand.java());
    command.addAll(JvmOptions.all());
    List<String> further = new ArrayList<>(furtherJvmOptions(System.getenv()));
    further.addAll(jvmOptions);
    command.addAll(aotCache(Path.of(classPath()), further));
    command.addAll(container(further));
    command.addAll(further);
    String home = System.getProperty("sluice.home", "");
    if (!home.isEmpty()) {
      command.add("-Dsluice.home=" + home);
    }
    command.addAll(List.of("-cp", classPath(), Main.class.getName()));
    command.add("operator");
    command.addAll(arguments);
    return command;
  }

  private static OperatorProcess launch(
      String name,
      Path kubeconfig,
      OperatorSettings settings,
      Path directory,
      List<String> operator,
      Lifetime lifetime) {
    Path configuration = directory.resolve(name + ".yaml");
    try {
      Files.createDirectories(directory);
      Files.writeString(configuration, settings.yaml());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    List<String> command = new ArrayList<>(operator);
    command.addAll(List.of("--kubeconfig", kubeconfig.toString()));
    command.addAll(List.of("--config", configuration.toString()));
    ManagedProcess process =
        new ProcessLauncher(lifetime)
            .start(name, command, directory.resolve(name + ".log"), environment(System.getenv()));
    return new OperatorProcess(
        settings,
        process,
        InstantSource.system(),
        HttpClient.newBuilder().connectTimeout(PROBE_LIMIT).build());
  }

  /**
   * The class path of an operator: the program's jar alone if there is one, as in the image, so
   * that both can use a cache that was made with the other.
   */
  public static String classPath() {
    String own = System.getProperty("java.class.path");
    return Pattern.compile(File.pathSeparator, Pattern.LITERAL)
        .splitAsStream(own)
        .filter(entry -> entry.equals(JAR) || entry.endsWith(File.separator + JAR))
        .findFirst()
        .orElse(own);
  }

  /**
   * The collector and the heap that the machine chooses in a container with the memory limit of the
   * chart, unless the options choose a collector.
   */
  static List<String> container(List<String> options) {
    List<String> chosen = new ArrayList<>(List.of("-XX:MaxRAM=1g", "-XX:MaxRAMPercentage=50"));
    if (options.stream().noneMatch(option -> option.matches("-XX:\\+Use\\w+GC"))) {
      chosen.add("-XX:+UseSerialGC");
    }
    return chosen;
  }

  /**
   * The option that has the ahead-of-time cache beside the program's jar used, if it was made after
   * the jar. The machine ignores one that doesn't fit, and says nothing of it.
   */
  static List<String> aotCache(Path jar, List<String> options) {
    Path cache = jar.resolveSibling("operator.aot");
    boolean usable =
        options.stream().noneMatch(option -> option.startsWith("-XX:AOT"))
            && Files.isRegularFile(jar)
            && Files.isRegularFile(cache)
            && cache.toFile().lastModified() >= jar.toFile().lastModified();
    return usable ? List.of("-XX:AOTCache=" + cache, "-Xlog:aot*=off") : List.of();
  }

  /** What the image has in its environment, unless this process's environment says otherwise. */
  static Map<String, String> environment(Map<String, String> own) {
    Map<String, String> missing = new HashMap<>(ENVIRONMENT);
    missing.keySet().removeAll(own.keySet());
    return missing;
  }

  /** Of the environment, as the launcher script takes them. */
  private static List<String> furtherJvmOptions(Map<String, String> environment) {
    return Pattern.compile("\\s+")
        .splitAsStream(environment.getOrDefault("SLUICE_JAVA_OPTS", ""))
        .filter(option -> !option.isEmpty())
        .toList();
  }

  /**
   * Returns once the operator serves webhooks and says that it is ready.
   *
   * @throws ControlPlaneException when it ends before, or isn't ready within five minutes; with the
   *     end of its log
   */
  public OperatorProcess awaitReady() {
    new Poller(clock, READY_LIMIT).await("the operator was ready", List.of(process), this::isReady);
    return this;
  }

  /** Whether it says that it is ready. */
  public boolean isReady() {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + settings.healthPort() + "/readyz"))
            .timeout(PROBE_LIMIT)
            .build();
    try {
      return http.send(request, BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException notYet) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ControlPlaneException("interrupted while probing " + process, e);
    }
  }

  /** The process id. */
  public long pid() {
    return process.pid();
  }

  /** Whether it runs. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Completes when it has ended, in whatever way, with a message that has the end of its log. */
  public CompletableFuture<String> onEnd() {
    return process.onEndTold();
  }

  /** Peak resident memory in bytes; 0 where the system doesn't report it, or when it has ended. */
  public long peakResidentBytes() {
    return process.peakResidentBytes();
  }

  /** The file its log goes to. */
  public Path log() {
    return process.log();
  }

  /** Takes the processor away from it until {@link #resume}; it keeps memory and connections. */
  public void pause() {
    process.pause();
  }

  /** Gives the processor back after {@link #pause}. */
  public void resume() {
    process.resume();
  }

  /** Asks it to end, and returns whether it did so by itself within 20 seconds. */
  public boolean stop() {
    return stop(STOP_LIMIT);
  }

  /** The same with another limit. */
  public boolean stop(Duration limit) {
    process.terminate();
    boolean ended = process.awaitEnd(limit);
    if (!ended) {
      kill();
    }
    return ended;
  }

  /** Its exit code; empty while it runs, or when it lives until it is stopped. */
  public OptionalInt exitCode() {
    return process.exitCode();
  }

  /** Ends it at once, as {@code kill -9} does; returns when it has ended. */
  public void kill() {
    process.kill();
    if (!process.awaitEnd(STOP_LIMIT)) {
      throw new ControlPlaneException(process + " can't be killed");
    }
  }

  /** Stops it, if it runs. */
  @Override
  public void close() {
    if (process.isAlive()) {
      stop();
    }
    http.close();
  }

  /** Command lines of programs of this project in a process of their own. */
  public static final class JavaCommand {

    private JavaCommand() {}

    /** The program {@code java} of this process. */
    public static String java() {
      return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** Runs a class with the class path of this process, and the options of every process. */
    public static List<String> of(Class<?> program, String... arguments) {
      List<String> command = new ArrayList<>();
      command.add(java());
      command.addAll(JvmOptions.all());
      command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
      command.addAll(List.of(arguments));
      return command;
    }
  }
}
