package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.policy.JobAction.MakePodGroup;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.Futures;
import java.util.Optional;

/**
 * Makes the PodGroups of kube-scheduler that a start needs. One that an earlier start left is taken
 * if it is as it would be made, and replaced otherwise: what is scheduled once counts as such for
 * ever, and the number of pods can't be changed everywhere.
 */
final class PodGroupMaker {

  /** What became of it. */
  sealed interface Result {

    /** The PodGroup is there. */
    record Made() implements Result {}

    /** An earlier one has to be gone first. */
    record InProgress() implements Result {}

    /** It can't be made, for this reason. */
    record Refused(String why) implements Result {}
  }

  private final JobClient jobClient;

  PodGroupMaker(JobClient jobClient) {
    this.jobClient = jobClient;
  }

  /** Makes one, or takes the one that is there. */
  Result make(MakePodGroup make) throws InterruptedException {
    return switch (Futures.forResult(jobClient.create(make.collection(), make.podGroup()))) {
      case ApiOutcome.Written written -> new Result.Made();
      case ApiOutcome.Conflict conflict -> taken(make);
      case ApiOutcome.Gone gone -> new Result.Refused(gone.message());
      case ApiOutcome.Refused refused -> new Result.Refused(refused.message());
      case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
    };
  }

  private Result taken(MakePodGroup make) throws InterruptedException {
    String name = make.podGroup().path("metadata").path("name").asText();
    String path = make.collection() + "/" + name;
    Optional<ObjectNode> found = Futures.forResult(jobClient.read(path));
    if (found.isEmpty()) {
      return new Result.InProgress();
    }
    JsonNode metadata = found.get().path("metadata");
    if (!owner(found.get()).equals(owner(make.podGroup()))) {
      return new Result.Refused("PodGroup " + name + " is there and of somebody else");
    }
    if (metadata.has("deletionTimestamp")) {
      return new Result.InProgress();
    }
    if (minCount(found.get()) == minCount(make.podGroup()) && !isScheduled(found.get())) {
      return new Result.Made();
    }
    return switch (Futures.forResult(jobClient.delete(path, metadata.path("uid").asText()))) {
      case ApiOutcome.Refused refused -> new Result.Refused(refused.message());
      case ApiOutcome.Unreachable unreachable -> throw unreachable.exception();
      default -> new Result.InProgress();
    };
  }

  /** Whether kube-scheduler has once found a node for every pod of a PodGroup. */
  static boolean isScheduled(JsonNode podGroup) {
    for (JsonNode condition : podGroup.path("status").path("conditions")) {
      String type = condition.path("type").asText();
      // the second is the name that Kubernetes 1.37 has for the first
      if ((type.equals("PodGroupScheduled") || type.equals("PodGroupInitiallyScheduled"))
          && condition.path("status").asText().equals("True")) {
        return true;
      }
    }
    return false;
  }

  private static String owner(JsonNode podGroup) {
    return podGroup.path("metadata").path("ownerReferences").path(0).path("uid").asText();
  }

  private static int minCount(JsonNode podGroup) {
    return podGroup.at("/spec/schedulingPolicy/gang/minCount").asInt();
  }
}
