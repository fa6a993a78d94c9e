package dev.sluice.lab.controlplane;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.lab.controlplane.ManagedProcess.ProcessFiles;
import dev.sluice.lab.controlplane.binaries.Program;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The state file of one control plane, replaced atomically. */
final class StateFile {

  private final Path file;
  private final State initial;

  StateFile(Path file, State initial) {
    this.file = file;
    this.initial = initial;
  }

  void write(Map<Program, ManagedProcess> processes) {
    List<ProcessRecord> records =
        processes.entrySet().stream()
            .map(process -> ProcessRecord.of(process.getKey(), process.getValue()))
            .toList();
    State state = initial.withProcesses(records);
    write(file, state);
  }

  static void write(Path file, State state) {
    ObjectNode root = JsonMappers.JSON.createObjectNode();
    root.put("name", state.name());
    root.put("lifetime", state.lifetime().name());
    root.put("createdAtMillis", state.createdAtMillis());
    root.put("server", state.server().toString());
    root.set("owner", json(state.owner()));
    ArrayNode processes = root.putArray("processes");
    state.processes().forEach(process -> processes.add(json(process)));
    Path part = file.resolveSibling(file.getFileName() + ".part");
    try {
      Files.writeString(part, root.toPrettyString());
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads a state file; empty if it does not exist or is unreadable. */
  static Optional<State> read(Path file) {
    try {
      return Optional.of(state(JsonMappers.JSON.readTree(Files.readString(file))));
    } catch (NoSuchFileException | JsonProcessingException | IllegalArgumentException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static State state(JsonNode root) {
    List<ProcessRecord> processes = new ArrayList<>();
    root.path("processes").forEach(node -> processes.add(process(node)));
    return new State(
        root.path("name").asText(),
        Lifetime.valueOf(root.path("lifetime").asText()),
        root.path("createdAtMillis").asLong(),
        URI.create(root.path("server").asText()),
        process(root.path("owner")),
        List.copyOf(processes));
  }

  private static ObjectNode json(ProcessRecord process) {
    ObjectNode node = JsonMappers.JSON.createObjectNode();
    process.program().ifPresent(program -> node.put("program", program.name()));
    return node.put("pid", process.pid()).put("startedAtMillis", process.startedAtMillis());
  }

  private static ProcessRecord process(JsonNode node) {
    Optional<Program> program =
        node.has("program")
            ? Optional.of(Program.valueOf(node.path("program").asText()))
            : Optional.empty();
    return new ProcessRecord(
        program, node.path("pid").asLong(), node.path("startedAtMillis").asLong());
  }

  /**
   * Persistent state of a control plane.
   *
   * @param name its name
   * @param lifetime its lifetime
   * @param createdAtMillis when its start began, in milliseconds since the epoch
   * @param server the address of the API server
   * @param owner the process that started it
   * @param processes the processes started so far
   */
  record State(
      String name,
      Lifetime lifetime,
      long createdAtMillis,
      URI server,
      ProcessRecord owner,
      List<ProcessRecord> processes) {

    State withProcesses(List<ProcessRecord> other) {
      return new State(name, lifetime, createdAtMillis, server, owner, other);
    }

    boolean anyProcessAlive() {
      return processes.stream().anyMatch(ProcessRecord::isAlive);
    }

    boolean allProcessesAlive() {
      return !processes.isEmpty() && processes.stream().allMatch(ProcessRecord::isAlive);
    }
  }

  /**
   * Persistent record of a process, by which other processes recognise it.
   *
   * @param program the program; empty for the process that started the others
   * @param pid the process id, which the system may have reused
   * @param startedAtMillis start time in milliseconds since the epoch
   */
  record ProcessRecord(Optional<Program> program, long pid, long startedAtMillis) {

    /** Systems report start times with low precision, relative to a boot time that drifts. */
    private static final Duration TOLERANCE = Duration.ofSeconds(3);

    static ProcessRecord of(Program program, ManagedProcess process) {
      return new ProcessRecord(
          Optional.of(program), process.pid(), process.startedAt().toEpochMilli());
    }

    static ProcessRecord ofThisProcess() {
      ProcessHandle own = ProcessHandle.current();
      long start = own.info().startInstant().orElse(Instant.EPOCH).toEpochMilli();
      return new ProcessRecord(Optional.empty(), own.pid(), start);
    }

    /** Whether the recorded process still runs. */
    boolean isAlive() {
      Optional<ProcessHandle> handle = ProcessHandle.of(pid).filter(ProcessHandle::isAlive);
      return handle.isPresent()
          && !ProcessFiles.isZombie(pid)
          && handle.get().info().startInstant().map(this::isStart).orElse(false);
    }

    private boolean isStart(Instant start) {
      Duration difference = Duration.between(Instant.ofEpochMilli(startedAtMillis), start).abs();
      return difference.compareTo(TOLERANCE) <= 0;
    }

    /** The process, if it runs and is a program of a control plane. */
    Optional<ManagedProcess> open(Layout layout) {
      return program
          .filter(known -> isAlive())
          .map(known -> ManagedProcess.found(known.file(), pid, layout.log(known)));
    }
  }

  /**
   * The paths of the files of one control plane.
   *
   * @param directory the directory that contains exactly these files
   */
  record Layout(Path directory) {

    Path kubeconfig() {
      return directory.resolve("kubeconfig");
    }

    /** The kubeconfig of one of the control plane's own programs. */
    Path kubeconfig(Program program) {
      return directory.resolve(program.file() + ".kubeconfig");
    }

    Path keys() {
      return directory.resolve("pki");
    }

    Path key(String file) {
      return keys().resolve(file);
    }

    Path store() {
      return directory.resolve("etcd");
    }

    Path logs() {
      return directory.resolve("logs");
    }

    Path log(Program program) {
      return logs().resolve(program.file() + ".log");
    }

    Path kwokConfiguration() {
      return directory.resolve("kwok.yaml");
    }

    Path state() {
      return directory.resolve("state.json");
    }
  }
}
