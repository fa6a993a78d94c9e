package dev.sluice.lab.controlplane;

import java.net.URI;
import java.util.List;

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
