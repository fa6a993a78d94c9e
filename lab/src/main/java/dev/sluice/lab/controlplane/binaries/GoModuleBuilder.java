package dev.sluice.lab.controlplane.binaries;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Builds a bundle from its published Go modules, if a Go tool chain is installed. */
public final class GoModuleBuilder implements BundleBuilder {

  private static final Duration REPORT_INTERVAL = Duration.ofSeconds(15);
  private static final int KEPT_LINES = 12;

  private final ModuleFiles modules;
  private final List<Path> searchPath;
  private final InstantSource clock;
  private final Progress progress;

  /** Creates a builder that searches {@code go} in the given directories, in order. */
  public GoModuleBuilder(
      ModuleFiles modules, List<Path> searchPath, InstantSource clock, Progress progress) {
    this.modules = modules;
    this.searchPath = List.copyOf(searchPath);
    this.clock = clock;
    this.progress = progress;
  }

  /** The directories of an environment's PATH, then the one that Go's installer uses. */
  public static List<Path> searchPath(Map<String, String> environment) {
    List<Path> directories = new ArrayList<>();
    for (String entry : environment.getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      if (!entry.isEmpty()) {
        directories.add(Path.of(entry));
      }
    }
    directories.add(Path.of("/usr/local/go/bin"));
    return List.copyOf(directories);
  }

  @Override
  public String name() {
    return "build from Go modules";
  }

  @Override
  public void make(Bundle bundle, Path emptyDirectory)
      throws SourceFailedException, InterruptedException {
    Path go =
        go().orElseThrow(
                () ->
                    new SourceFailedException("there is no Go tool chain (no \"go\" on the PATH)"));
    Instant begin = clock.instant();
    progress.say(
        "building %s %s from its Go modules; this takes minutes, once"
            .formatted(bundle.title(), modules.version(bundle)));
    try {
      build(go, bundle, emptyDirectory.toAbsolutePath(), begin);
    } catch (IOException e) {
      throw new SourceFailedException("can't run " + go + ": " + e.getMessage(), e);
    }
    progress.say("built %s in %s".formatted(bundle.title(), since(begin)));
  }

  private void build(Path go, Bundle bundle, Path target, Instant begin)
      throws IOException, SourceFailedException, InterruptedException {
    Path work = Files.createTempDirectory("sluice-control-plane-");
    try {
      modules.copyTo(bundle, work);
      ProcessBuilder builder = new ProcessBuilder(command(go, bundle, target));
      builder.directory(work.toFile()).redirectErrorStream(true);
      isolate(builder.environment());
      Process process = builder.start();
      process.getOutputStream().close();
      try {
        Deque<String> tail = follow(process, bundle, begin);
        int code = process.waitFor();
        if (code != 0) {
          throw new SourceFailedException(
              "go build ended with %d: %s".formatted(code, String.join(" | ", tail)));
        }
      } finally {
        process.destroy();
      }
    } finally {
      DirectoryTree.delete(work);
    }
  }

  /** Reads the output of the build until it ends; returns its last lines. */
  private Deque<String> follow(Process process, Bundle bundle, Instant begin) throws IOException {
    Deque<String> tail = new ArrayDeque<>();
    Instant reported = begin;
    int packages = 0;
    try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        packages += line.contains(" ") ? 0 : 1;
        tail.addLast(line);
        if (tail.size() > KEPT_LINES) {
          tail.removeFirst();
        }
        Instant now = clock.instant();
        if (Duration.between(reported, now).compareTo(REPORT_INTERVAL) >= 0) {
          reported = now;
          progress.say(
              "building %s: %d packages in %s".formatted(bundle.title(), packages, since(begin)));
        }
      }
    }
    return tail;
  }

  private List<String> command(Path go, Bundle bundle, Path target) {
    List<Program> programs = bundle.programs();
    // With one package the output is a file, because Go would name it after the import path.
    String output = programs.size() == 1 ? "/" + programs.getFirst().file() : "/";
    List<String> command = new ArrayList<>();
    command.addAll(List.of(go.toString(), "build", "-v", "-trimpath", "-mod=readonly"));
    command.addAll(List.of("-buildvcs=false", "-ldflags", linkerFlags(bundle)));
    if (bundle == Bundle.KUBERNETES) {
      // versions before 1.31 have clients of clouds in them, which take a fifth of the build
      command.add("-tags=providerless");
    }
    command.addAll(List.of("-o", target + output));
    programs.forEach(program -> command.add(program.mainPackage()));
    return command;
  }

  /** Linker flags: omit symbols and stamp versions, as upstream's own build does. */
  private String linkerFlags(Bundle bundle) {
    String version = modules.version(bundle);
    StringBuilder flags = new StringBuilder("-s -w");
    switch (bundle) {
      case KUBERNETES -> {
        String[] parts = version.substring(1).split("\\.", -1);
        for (String where :
            List.of("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")) {
          flags.append(" -X ").append(where).append(".gitVersion=").append(version);
          flags.append(" -X ").append(where).append(".gitMajor=").append(parts[0]);
          flags.append(" -X ").append(where).append(".gitMinor=").append(parts[1]);
          flags.append(" -X ").append(where).append(".gitTreeState=archive");
        }
      }
      case KWOK -> flags.append(" -X sigs.k8s.io/kwok/pkg/consts.Version=").append(version);
      case ETCD -> {
        // etcd carries its version in its source
      }
    }
    return flags.toString();
  }

  private static void isolate(Map<String, String> environment) {
    environment.keySet().removeAll(List.of("GOFLAGS", "GOOS", "GOARCH", "GOBIN", "GO111MODULE"));
    environment.put("GOWORK", "off");
    environment.put("CGO_ENABLED", "0");
  }

  private Optional<Path> go() {
    return searchPath.stream()
        .map(directory -> directory.resolve("go"))
        .filter(Files::isExecutable)
        .findFirst();
  }

  private String since(Instant begin) {
    Duration took = Duration.between(begin, clock.instant());
    return "%dm%02ds".formatted(took.toMinutes(), took.toSecondsPart());
  }
}
