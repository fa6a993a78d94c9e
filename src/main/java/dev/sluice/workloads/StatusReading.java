package dev.sluice.workloads;

import dev.sluice.workloads.Workload.Admission;
import dev.sluice.workloads.Workload.Assignment;
import dev.sluice.workloads.Workload.CheckState;
import dev.sluice.workloads.Workload.Condition;
import dev.sluice.workloads.Workload.Elsewhere;
import dev.sluice.workloads.Workload.EvictionCount;
import dev.sluice.workloads.Workload.Gate;
import dev.sluice.workloads.Workload.History;
import dev.sluice.workloads.Workload.PodSetUpdate;
import dev.sluice.workloads.Workload.PodToleration;
import dev.sluice.workloads.Workload.RequeueState;
import dev.sluice.workloads.Workload.Status;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** The reading of a Workload's status. */
final class StatusReading {

  private final Tokens tokens;
  private List<Condition> conditions = List.of();
  private Optional<Admission> admission = Optional.empty();
  private List<CheckState> checks = List.of();
  private Map<String, Integer> reclaimable = Map.of();
  private Optional<RequeueState> requeueState = Optional.empty();
  private int executionSeconds;
  private List<EvictionCount> evictions = List.of();
  private boolean requestsTold;
  private String cluster = "";
  private List<String> nominated = List.of();
  private List<Gate> gates = List.of();

  private StatusReading(Tokens tokens) {
    this.tokens = tokens;
  }

  /** The status that the parser stands at. */
  static Status of(Tokens tokens) throws IOException {
    StatusReading reading = new StatusReading(tokens);
    tokens.object(reading::field);
    return reading.result();
  }

  private Status result() {
    History history =
        executionSeconds == 0 && evictions.isEmpty()
            ? History.NONE
            : new History(executionSeconds, evictions);
    return new Status(
        conditions,
        admission,
        checks,
        reclaimable,
        requeueState,
        history,
        requestsTold,
        cluster.isEmpty() && nominated.isEmpty()
            ? Elsewhere.NOWHERE
            : new Elsewhere(cluster, nominated),
        gates);
  }

  private void field(String name) throws IOException {
    switch (name) {
      case "conditions" -> conditions = tokens.list(this::condition);
      case "admission" -> admission = admission();
      case "admissionChecks" -> checks = tokens.list(this::check);
      case "reclaimablePods" -> reclaimable = reclaimablePods();
      case "requeueState" -> requeueState = Optional.of(requeueState());
      case "accumulatedPastExecutionTimeSeconds" -> executionSeconds = tokens.number(0);
      case "schedulingStats" -> tokens.object(this::schedulingStats);
      case "resourceRequests" -> requestsTold = !tokens.list(this::skipped).isEmpty();
      case "clusterName" -> cluster = tokens.word();
      case "preemptionGates" -> gates = tokens.list(this::gate);
      case "nominatedClusterNames" -> nominated = tokens.list(tokens::word);
      default -> {}
    }
  }

  private Gate gate() throws IOException {
    String[] texts = {"", ""};
    Instant[] since = {Instant.EPOCH};
    tokens.object(
        field -> {
          switch (field) {
            case "name" -> texts[0] = tokens.word();
            case "position" -> texts[1] = tokens.word();
            case "lastTransitionTime" -> since[0] = tokens.instant();
            default -> {}
          }
        });
    return new Gate(texts[0], texts[1].equals("Open"), since[0]);
  }

  private boolean skipped() throws IOException {
    tokens.parser().skipChildren();
    return true;
  }

  private Condition condition() throws IOException {
    String[] texts = {"", "", "", ""};
    Instant[] since = {Instant.EPOCH};
    long[] generation = {0};
    tokens.object(
        field -> {
          switch (field) {
            case "type" -> texts[0] = tokens.word();
            case "status" -> texts[1] = tokens.word();
            case "reason" -> texts[2] = tokens.word();
            case "message" -> texts[3] = tokens.word();
            case "lastTransitionTime" -> since[0] = tokens.instant();
            case "observedGeneration" -> generation[0] = tokens.longNumber();
            default -> {}
          }
        });
    return new Condition(texts[0], texts[1], texts[2], texts[3], since[0], generation[0]);
  }

  private Optional<Admission> admission() throws IOException {
    if (!tokens.parser().currentToken().isStructStart()) {
      return Optional.empty();
    }
    String[] clusterQueue = {""};
    List<List<Assignment>> assignments = new ArrayList<>();
    tokens.object(
        field -> {
          switch (field) {
            case "clusterQueue" -> clusterQueue[0] = tokens.word();
            case "podSetAssignments" -> assignments.add(tokens.list(this::assignment));
            default -> {}
          }
        });
    return Optional.of(
        new Admission(clusterQueue[0], assignments.isEmpty() ? List.of() : assignments.getLast()));
  }

  private Assignment assignment() throws IOException {
    String[] name = {"main"};
    int[] count = {0};
    Map<String, String> flavors = new HashMap<>(4);
    Map<String, String> usage = new HashMap<>(4);
    tokens.object(
        field -> {
          switch (field) {
            case "name" -> name[0] = tokens.word();
            case "count" -> count[0] = tokens.number(0);
            case "flavors" -> flavors.putAll(tokens.wordMap());
            case "resourceUsage" -> usage.putAll(tokens.wordMap());
            default -> {}
          }
        });
    return new Assignment(name[0], Map.copyOf(flavors), Map.copyOf(usage), count[0]);
  }

  private CheckState check() throws IOException {
    String[] texts = {"", "", ""};
    Instant[] since = {Instant.EPOCH};
    int[] numbers = {-1, -1};
    List<PodSetUpdate> updates = new ArrayList<>(0);
    tokens.object(
        field -> {
          switch (field) {
            case "name" -> texts[0] = tokens.word();
            case "state" -> texts[1] = tokens.word();
            case "message" -> texts[2] = tokens.word();
            case "lastTransitionTime" -> since[0] = tokens.instant();
            case "requeueAfterSeconds" -> numbers[0] = tokens.number(-1);
            case "retryCount" -> numbers[1] = tokens.number(-1);
            case "podSetUpdates" -> updates.addAll(tokens.list(this::podSetUpdate));
            default -> {}
          }
        });
    return new CheckState(
        texts[0], texts[1], texts[2], since[0], numbers[0], numbers[1], List.copyOf(updates));
  }

  private PodSetUpdate podSetUpdate() throws IOException {
    String[] name = {"main"};
    Map<String, Map<String, String>> maps = new HashMap<>(4);
    List<PodToleration> tolerations = new ArrayList<>(0);
    tokens.object(
        field -> {
          switch (field) {
            case "name" -> name[0] = tokens.word();
            case "labels", "annotations", "nodeSelector" -> maps.put(field, tokens.wordMap());
            case "tolerations" -> tolerations.addAll(tokens.list(this::toleration));
            default -> {}
          }
        });
    return new PodSetUpdate(
        name[0],
        maps.getOrDefault("labels", Map.of()),
        maps.getOrDefault("annotations", Map.of()),
        maps.getOrDefault("nodeSelector", Map.of()),
        List.copyOf(tolerations));
  }

  private PodToleration toleration() throws IOException {
    String[] texts = {"", "", "", ""};
    OptionalLong[] seconds = {OptionalLong.empty()};
    tokens.object(
        field -> {
          switch (field) {
            case "key" -> texts[0] = tokens.word();
            case "operator" -> texts[1] = tokens.word();
            case "value" -> texts[2] = tokens.word();
            case "effect" -> texts[3] = tokens.word();
            case "tolerationSeconds" -> seconds[0] = OptionalLong.of(tokens.longNumber());
            default -> {}
          }
        });
    return new PodToleration(texts[0], texts[1], texts[2], texts[3], seconds[0]);
  }

  private Map<String, Integer> reclaimablePods() throws IOException {
    Map<String, Integer> result = new HashMap<>(4);
    tokens.list(
        () -> {
          String[] name = {""};
          int[] count = {0};
          tokens.object(
              field -> {
                switch (field) {
                  case "name" -> name[0] = tokens.word();
                  case "count" -> count[0] = tokens.number(0);
                  default -> {}
                }
              });
          result.put(name[0], count[0]);
          return name[0];
        });
    return Map.copyOf(result);
  }

  private RequeueState requeueState() throws IOException {
    int[] count = {0};
    Instant[] until = {Instant.EPOCH};
    tokens.object(
        field -> {
          switch (field) {
            case "count" -> count[0] = tokens.number(0);
            case "requeueAt" -> until[0] = tokens.instant();
            default -> {}
          }
        });
    return new RequeueState(
        count[0], until[0].equals(Instant.EPOCH) ? Optional.empty() : Optional.of(until[0]));
  }

  private void schedulingStats(String name) throws IOException {
    if (name.equals("evictions")) {
      evictions = tokens.list(this::eviction);
    }
  }

  private EvictionCount eviction() throws IOException {
    String[] texts = {"", ""};
    int[] count = {0};
    tokens.object(
        field -> {
          switch (field) {
            case "reason" -> texts[0] = tokens.word();
            case "underlyingCause" -> texts[1] = tokens.word();
            case "count" -> count[0] = tokens.number(0);
            default -> {}
          }
        });
    return new EvictionCount(texts[0], texts[1], count[0]);
  }
}
