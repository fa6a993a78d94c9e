package dev.sluice.workload.status;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.workload.record.CachedWorkload.CheckState;
import dev.sluice.workload.record.CachedWorkload.PodSetUpdate;
import dev.sluice.workload.record.CachedWorkload.PodToleration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The list of admission checks in a Workload's status
 * (docs/workload-semantics.md#admission-checks).
 */
public final class CheckStates {

  /** The most checks that the status of a Workload has room for. */
  public static final int MOST = 8;

  private CheckStates() {}

  /**
   * Why a Workload can't be admitted by these checks: its status hasn't room for all of them, and
   * one that it doesn't list is asked by nobody. Empty if it has.
   */
  public static Optional<String> lackOfRoom(List<CheckState> checks) {
    return lackOfRoom(
        checks.stream().map(CheckState::name).collect(Collectors.toCollection(TreeSet::new)));
  }

  /** The same for checks of these names. */
  public static Optional<String> lackOfRoom(SortedSet<String> names) {
    return names.size() <= MOST
        ? Optional.empty()
        : Optional.of(
            "It needs %d admission checks, and its status has room for %d: %s"
                .formatted(names.size(), MOST, String.join(", ", names)));
  }

  /** Whether the status of a Workload has room for these checks. */
  public static boolean hasRoom(List<CheckState> checks) {
    return checks.size() <= MOST;
  }

  /**
   * Synchronizes the list with the required checks: adds new checks as Pending, removes checks that
   * are not required any more, keeps the state of the others; sorted by name. All are in it, also
   * those that the status has no room for.
   *
   * @return empty if the list contains exactly the required checks
   */
  public static Optional<List<CheckState>> synced(
      List<CheckState> present, SortedSet<String> required, Instant now) {
    List<String> names = present.stream().map(CheckState::name).sorted().toList();
    if (names.equals(List.copyOf(required))) {
      return Optional.empty();
    }
    List<CheckState> result =
        new ArrayList<>(present.stream().filter(check -> required.contains(check.name())).toList());
    for (String name : required) {
      if (!names.contains(name)) {
        result.add(pending(name, now));
      }
    }
    result.sort(Comparator.comparing(CheckState::name));
    return Optional.of(result);
  }

  private static CheckState pending(String name, Instant now) {
    return new CheckState(
        name, CheckState.PENDING, "", now.truncatedTo(ChronoUnit.SECONDS), -1, -1, List.of());
  }

  /** Whether all checks are Ready; true without checks. */
  public static boolean allReady(List<CheckState> checks) {
    return checks.stream().allMatch(check -> check.is(CheckState.READY));
  }

  /** Whether a check requests a retry, or has rejected the Workload. */
  public static boolean anyRefuses(List<CheckState> checks) {
    return checks.stream()
        .anyMatch(check -> check.is(CheckState.RETRY) || check.is(CheckState.REJECTED));
  }

  /**
   * The checks of a Workload that holds no quota: what a check asked for or decided about an
   * earlier reservation is over, so that Retry and Rejected begin anew as after an eviction.
   */
  public static List<CheckState> withoutRefusals(List<CheckState> checks, Instant now) {
    return checks.stream()
        .map(check -> anyRefuses(List.of(check)) ? reset(check, now) : check)
        .toList();
  }

  /** A check that begins anew; its message notes the previous state. */
  static CheckState reset(CheckState check, Instant now) {
    if (check.is(CheckState.PENDING)) {
      return check;
    }
    return new CheckState(
        check.name(),
        CheckState.PENDING,
        "Reset to Pending after eviction. Previously: " + check.state(),
        now.truncatedTo(ChronoUnit.SECONDS),
        check.requeueAfterSeconds(),
        check.is(CheckState.RETRY) ? Math.max(0, check.retryCount()) + 1 : -1,
        List.of());
  }

  /** The end of the backoff that checks with a retry request; empty if none requests a backoff. */
  public static Optional<Instant> backOff(List<CheckState> checks) {
    return checks.stream()
        .filter(check -> check.is(CheckState.RETRY) && check.requeueAfterSeconds() >= 0)
        .map(check -> check.lastTransitionTime().plusSeconds(check.requeueAfterSeconds()))
        .max(Comparator.naturalOrder());
  }

  /** The list in the form of the API. */
  public static ArrayNode json(List<CheckState> checks) {
    ArrayNode result = JsonNodeFactory.instance.arrayNode();
    checks.forEach(check -> result.add(json(check)));
    return result;
  }

  private static ObjectNode json(CheckState check) {
    ObjectNode json =
        JsonNodeFactory.instance
            .objectNode()
            .put("name", check.name())
            .put("state", check.state())
            .put("message", StatusPatch.cut(check.message()))
            .put("lastTransitionTime", check.lastTransitionTime().toString());
    if (check.requeueAfterSeconds() >= 0) {
      json.put("requeueAfterSeconds", check.requeueAfterSeconds());
    }
    if (check.retryCount() >= 0) {
      json.put("retryCount", check.retryCount());
    }
    if (!check.podSetUpdates().isEmpty()) {
      ArrayNode updates = json.putArray("podSetUpdates");
      check.podSetUpdates().forEach(update -> updates.add(json(update)));
    }
    return json;
  }

  private static ObjectNode json(PodSetUpdate update) {
    ObjectNode json = JsonNodeFactory.instance.objectNode().put("name", update.name());
    map(json, "labels", update.labels());
    map(json, "annotations", update.annotations());
    map(json, "nodeSelector", update.nodeSelector());
    if (!update.tolerations().isEmpty()) {
      ArrayNode tolerations = json.putArray("tolerations");
      update.tolerations().forEach(toleration -> tolerations.add(json(toleration)));
    }
    return json;
  }

  private static void map(ObjectNode json, String field, Map<String, String> values) {
    if (!values.isEmpty()) {
      ObjectNode map = json.putObject(field);
      values.forEach(map::put);
    }
  }

  /** A toleration in the form of the API. */
  public static ObjectNode json(PodToleration toleration) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    text(json, "key", toleration.key());
    text(json, "operator", toleration.operator());
    text(json, "value", toleration.value());
    text(json, "effect", toleration.effect());
    toleration.seconds().ifPresent(seconds -> json.put("tolerationSeconds", seconds));
    return json;
  }

  private static void text(ObjectNode json, String field, String value) {
    if (!value.isEmpty()) {
      json.put(field, value);
    }
  }
}
