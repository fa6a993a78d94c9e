package dev.sluice.workload.record;

import dev.sluice.api.conversion.TopologyAssignmentCodec;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.model.MapCopies;
import dev.sluice.core.model.TopologyAssignment;
import dev.sluice.kube.json.JsonTokenReader;
import dev.sluice.workload.record.CachedWorkload.Admission;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.Condition;
import dev.sluice.workload.record.CachedWorkload.EvictionCount;
import dev.sluice.workload.record.CachedWorkload.Gate;
import dev.sluice.workload.record.CachedWorkload.History;
import dev.sluice.workload.record.CachedWorkload.PodSet;
import dev.sluice.workload.record.CachedWorkload.PodSetUpdate;
import dev.sluice.workload.record.CachedWorkload.PodToleration;
import dev.sluice.workload.record.CachedWorkload.RemotePlacement;
import dev.sluice.workload.record.CachedWorkload.RequeueState;
import dev.sluice.workload.record.CachedWorkload.Status;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Parses a Workload's status. */
final class StatusParser {

  /** The number of pods of an assignment that contains none, while it is read. */
  private static final int ABSENT = -1;

  private final JsonTokenReader jsonTokenReader;
  private List<Condition> conditions = List.of();
  private Optional<Admission> admission = Optional.empty();
  private List<CheckState> checks = List.of();
  private Map<String, Integer> reclaimable = Map.of();
  private Optional<RequeueState> requeueState = Optional.empty();
  private int executionSeconds;
  private List<EvictionCount> evictions = List.of();
  private boolean requestsWritten;
  private String cluster = "";
  private List<String> nominated = List.of();
  private List<Gate> gates = List.of();
  private List<String> unhealthyNodes = List.of();

  private StatusParser(JsonTokenReader jsonTokenReader) {
    this.jsonTokenReader = jsonTokenReader;
  }

  /** Parses the status at the current token. */
  static StatusParser of(JsonTokenReader jsonTokenReader) throws IOException {
    StatusParser reading = new StatusParser(jsonTokenReader);
    jsonTokenReader.object(reading::field);
    return reading;
  }

  /** The status of a Workload with the given pod sets. */
  Status result(List<PodSet> podSets) {
    History history =
        executionSeconds == 0 && evictions.isEmpty()
            ? History.NONE
            : new History(executionSeconds, evictions);
    return new Status(
        conditions,
        admission.map(read -> withCounts(read, podSets)),
        checks,
        reclaimable,
        requeueState,
        history,
        requestsWritten,
        cluster.isEmpty() && nominated.isEmpty()
            ? RemotePlacement.NOWHERE
            : new RemotePlacement(cluster, nominated),
        gates,
        unhealthyNodes);
  }

  /** The admission, with all pods of a pod set where the number of pods is absent. */
  private static Admission withCounts(Admission read, List<PodSet> podSets) {
    List<Assignment> assignments = read.podSetAssignments();
    return assignments.stream().allMatch(assignment -> assignment.count() > ABSENT)
        ? read
        : new Admission(
            read.clusterQueue(),
            assignments.stream().map(assignment -> withCount(assignment, podSets)).toList());
  }

  private static Assignment withCount(Assignment read, List<PodSet> podSets) {
    int pods = 0;
    for (PodSet podSet : podSets) {
      if (podSet.name().equals(read.name())) {
        pods = podSet.count();
      }
    }
    return read.count() > ABSENT ? read : read.withCount(pods);
  }

  private void field(String name) throws IOException {
    switch (name) {
      case "conditions" -> conditions = jsonTokenReader.list(this::condition);
      case "admission" -> admission = admission();
      case "admissionChecks" -> checks = jsonTokenReader.list(this::check);
      case "reclaimablePods" -> reclaimable = reclaimablePods();
      case "requeueState" -> requeueState = Optional.of(requeueState());
      case "accumulatedPastExecutionTimeSeconds" -> executionSeconds = jsonTokenReader.number(0);
      case "schedulingStats" -> jsonTokenReader.object(this::schedulingStats);
      case "resourceRequests" -> requestsWritten = !jsonTokenReader.list(this::skipped).isEmpty();
      case "clusterName" -> cluster = jsonTokenReader.word();
      case "unhealthyNodes" -> unhealthyNodes = jsonTokenReader.list(this::nodeName);
      case "preemptionGates" -> gates = jsonTokenReader.list(this::gate);
      case "nominatedClusterNames" -> nominated = jsonTokenReader.list(jsonTokenReader::word);
      default -> {}
    }
  }

  private Gate gate() throws IOException {
    String[] texts = {"", ""};
    Instant[] since = {Instant.EPOCH};
    jsonTokenReader.object(
        field -> {
          switch (field) {
            case "name" -> texts[0] = jsonTokenReader.word();
            case "position" -> texts[1] = jsonTokenReader.word();
            case "lastTransitionTime" -> since[0] = jsonTokenReader.instant();
            default -> {}
          }
        });
    return new Gate(texts[0], texts[1].equals("Open"), since[0]);
  }

  private String nodeName() throws IOException {
    String[] name = {""};
    jsonTokenReader.object(
        field -> {
          if (field.equals("name")) {
            name[0] = jsonTokenReader.word();
          }
        });
    return name[0];
  }

  private boolean skipped() throws IOException {
    jsonTokenReader.parser().skipChildren();
    return true;
  }

  private Condition condition() throws IOException {
    String[] texts = {"", "", "", ""};
    Instant[] since = {Instant.EPOCH};
    long[] generation = {0};
    jsonTokenReader.object(
        field -> {
          switch (field) {
            case "type" -> texts[0] = jsonTokenReader.word();
            case "status" -> texts[1] = jsonTokenReader.word();
            case "reason" -> texts[2] = jsonTokenReader.word();
            case "message" -> texts[3] = jsonTokenReader.word();
            case "lastTransitionTime" -> since[0] = jsonTokenReader.instant();
            case "observedGeneration" -> generation[0] = jsonTokenReader.longNumber();
            default -> {}
          }
        });
    return new Condition(texts[0], texts[1], texts[2], texts[3], since[0], generation[0]);
  }

  private Optional<Admission> admission() throws IOException {
    if (!jsonTokenReader.parser().currentToken().isStructStart()) {
      return Optional.empty();
    }
    String[] clusterQueue = {""};
    List<List<Assignment>> assignments = new ArrayList<>();
    jsonTokenReader.object(
        field -> {
          switch (field) {
            case "clusterQueue" -> clusterQueue[0] = jsonTokenReader.word();
            case "podSetAssignments" -> assignments.add(jsonTokenReader.list(this::assignment));
            default -> {}
          }
        });
    return Optional.of(
        new Admission(clusterQueue[0], assignments.isEmpty() ? List.of() : assignments.getLast()));
  }

  private Assignment assignment() throws IOException {
    String[] name = {"main", ""};
    int[] count = {ABSENT};
    List<TopologyAssignment> domains = new ArrayList<>(0);
    Map<String, String> flavors = new HashMap<>(4);
    Map<String, String> usage = new HashMap<>(4);
    jsonTokenReader.object(
        field -> {
          switch (field) {
            case "name" -> name[0] = jsonTokenReader.word();
            case "count" -> count[0] = jsonTokenReader.number(ABSENT);
            case "flavors" -> flavors.putAll(jsonTokenReader.wordMap());
            case "resourceUsage" -> usage.putAll(jsonTokenReader.wordMap());
            case "topologyAssignment" -> domains.addAll(topologyAssignment());
            case "delayedTopologyRequest" -> name[1] = jsonTokenReader.word();
            default -> {}
          }
        });
    return new Assignment(
        name[0],
        MapCopies.of(flavors),
        MapCopies.of(usage),
        count[0],
        domains.stream().findFirst(),
        name[1]);
  }

  /** The domains; empty where the field is null. */
  private List<TopologyAssignment> topologyAssignment() throws IOException {
    return jsonTokenReader.parser().currentToken().isStructStart()
        ? List.of(
            TopologyAssignmentCodec.decode(JsonMappers.JSON.readTree(jsonTokenReader.parser())))
        : List.of();
  }

  private CheckState check() throws IOException {
    String[] texts = {"", "", ""};
    Instant[] since = {Instant.EPOCH};
    int[] numbers = {-1, -1};
    List<PodSetUpdate> updates = new ArrayList<>(0);
    jsonTokenReader.object(
        field -> {
          switch (field) {
            case "name" -> texts[0] = jsonTokenReader.word();
            case "state" -> texts[1] = jsonTokenReader.word();
            case "message" -> texts[2] = jsonTokenReader.word();
            case "lastTransitionTime" -> since[0] = jsonTokenReader.instant();
            case "requeueAfterSeconds" -> numbers[0] = jsonTokenReader.number(-1);
            case "retryCount" -> numbers[1] = jsonTokenReader.number(-1);
            case "podSetUpdates" -> updates.addAll(jsonTokenReader.list(this::podSetUpdate));
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
    jsonTokenReader.object(
        field -> {
          switch (field) {
            case "name" -> name[0] = jsonTokenReader.word();
            case "labels", "annotations", "nodeSelector" ->
                maps.put(field, jsonTokenReader.wordMap());
            case "tolerations" -> tolerations.addAll(jsonTokenReader.list(this::toleration));
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
    jsonTokenReader.object(
        field -> {
          switch (field) {
            case "key" -> texts[0] = jsonTokenReader.word();
            case "operator" -> texts[1] = jsonTokenReader.word();
            case "value" -> texts[2] = jsonTokenReader.word();
            case "effect" -> texts[3] = jsonTokenReader.word();
            case "tolerationSeconds" -> seconds[0] = OptionalLong.of(jsonTokenReader.longNumber());
            default -> {}
          }
        });
    return new PodToleration(texts[0], texts[1], texts[2], texts[3], seconds[0]);
  }

  private Map<String, Integer> reclaimablePods() throws IOException {
    Map<String, Integer> result = new HashMap<>(4);
    jsonTokenReader.list(
        () -> {
          String[] name = {""};
          int[] count = {0};
          jsonTokenReader.object(
              field -> {
                switch (field) {
                  case "name" -> name[0] = jsonTokenReader.word();
                  case "count" -> count[0] = jsonTokenReader.number(0);
                  default -> {}
                }
              });
          result.put(name[0], count[0]);
          return name[0];
        });
    return MapCopies.of(result);
  }

  private RequeueState requeueState() throws IOException {
    int[] count = {0};
    Instant[] until = {Instant.EPOCH};
    jsonTokenReader.object(
        field -> {
          switch (field) {
            case "count" -> count[0] = jsonTokenReader.number(0);
            case "requeueAt" -> until[0] = jsonTokenReader.instant();
            default -> {}
          }
        });
    return new RequeueState(
        count[0], until[0].equals(Instant.EPOCH) ? Optional.empty() : Optional.of(until[0]));
  }

  private void schedulingStats(String name) throws IOException {
    if (name.equals("evictions")) {
      evictions = jsonTokenReader.list(this::eviction);
    }
  }

  private EvictionCount eviction() throws IOException {
    String[] texts = {"", ""};
    int[] count = {0};
    jsonTokenReader.object(
        field -> {
          switch (field) {
            case "reason" -> texts[0] = jsonTokenReader.word();
            case "underlyingCause" -> texts[1] = jsonTokenReader.word();
            case "count" -> count[0] = jsonTokenReader.number(0);
            default -> {}
          }
        });
    return new EvictionCount(texts[0], texts[1], count[0]);
  }
}
