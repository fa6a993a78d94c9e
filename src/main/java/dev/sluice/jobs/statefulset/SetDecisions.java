package dev.sluice.jobs.statefulset;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Keys;
import dev.sluice.jobs.JobAction;
import dev.sluice.jobs.JobAction.CreateWorkload;
import dev.sluice.jobs.JobAction.DeleteWorkload;
import dev.sluice.jobs.JobAction.LookAgain;
import dev.sluice.jobs.JobAction.PatchStatus;
import dev.sluice.jobs.JobAction.PatchWorkload;
import dev.sluice.jobs.JobAction.Warn;
import dev.sluice.jobs.JobRef;
import dev.sluice.jobs.JobRules;
import dev.sluice.jobs.JobView;
import dev.sluice.jobs.PodSetTemplate;
import dev.sluice.jobs.PrioritySource;
import dev.sluice.jobs.Situation;
import dev.sluice.jobs.Standing;
import dev.sluice.jobs.WorkloadComposer;
import dev.sluice.jobs.WorkloadUpkeep;
import dev.sluice.workloads.Evictions;
import dev.sluice.workloads.PodsReady;
import dev.sluice.workloads.StatusPatch;
import dev.sluice.workloads.Workload;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/**
 * What the Workload of a StatefulSet needs: a pure function. Its pods are started and stopped as
 * those of any group, which is not decided here.
 */
final class SetDecisions {

  /** What {@code kueue.x-k8s.io/job-owner-gvk} says of a StatefulSet. */
  static final String OWNER_GVK = "apps/v1, Kind=StatefulSet";

  private static final Duration RETRY = Duration.ofSeconds(5);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final StatefulSets adapter = new StatefulSets();
  private final JobRules rules;
  private final WorkloadComposer composer;
  private final WorkloadUpkeep upkeep = new WorkloadUpkeep();

  SetDecisions(JobRules rules) {
    this.rules = rules;
    this.composer = new WorkloadComposer(rules);
  }

  /**
   * What to do; nothing when all is as it should be.
   *
   * @param situation the set as a job, and its Workload, if there is one, as the prebuilt one
   * @param name of its Workload
   */
  List<JobAction> decide(SetView set, Situation situation, String name) {
    if (set.job().deleting() || !set.heldBack()) {
      return List.of();
    }
    return switch (situation.standing()) {
      case Standing.Unmanaged unmanaged -> List.of();
      case Standing.ChildOfManaged child -> List.of();
      case Standing.NestedTooDeep deep ->
          List.of(new Warn("JobNestingTooDeep", "more than 10 owners up the chain; not handled"));
      case Standing.Own own ->
          situation.prebuilt().isPresent()
              ? withWorkload(set, situation, situation.prebuilt().get())
              : withoutWorkload(set, situation, name);
    };
  }

  /** Of one that was sent here the Workload comes from where it comes from. */
  private List<JobAction> withoutWorkload(SetView set, Situation situation, String name) {
    if (set.replicas() == 0 || set.isSent()) {
      return List.of();
    }
    return withPriority(situation, priority -> new CreateWorkload(compose(set, name, priority)));
  }

  private ObjectNode compose(SetView set, String name, PrioritySource.Found priority) {
    JobView job = set.job();
    ObjectNode workload = composer.compose(job, name, podSets(job), priority);
    ObjectNode metadata = workload.withObjectProperty("metadata");
    metadata.putArray("ownerReferences").add(reference(job.ref()));
    metadata.withObjectProperty("labels").put(Keys.JOB_UID, job.ref().uid());
    metadata
        .withObjectProperty("annotations")
        .put(Keys.IS_GROUP_WORKLOAD, "true")
        .put(Keys.JOB_OWNER_GVK, OWNER_GVK)
        .put(Keys.JOB_OWNER_NAME, job.ref().name());
    return workload;
  }

  private List<JobAction> withWorkload(SetView set, Situation situation, Workload workload) {
    if (workload.deleting() || workload.finished()) {
      return List.of();
    }
    if (!"true".equals(workload.annotations().get(Keys.IS_GROUP_WORKLOAD))) {
      return List.of(
          new Warn(
              "WorkloadNameConflict",
              "Workload " + workload.id() + " exists and was not made for a group of pods"),
          new LookAgain(RETRY));
    }
    if (!isOwned(workload, set.job().ref())) {
      return List.of(adopt(workload, set.job().ref()));
    }
    if (set.isSent()) {
      return List.of();
    }
    if (set.replicas() == 0) {
      return hold(set, workload, situation);
    }
    if (workload.quotaReserved()) {
      return sameCount(set, workload)
          ? upkeep.inStep(situation, workload)
          : List.of(new DeleteWorkload(workload, "the StatefulSet has another number of replicas"));
    }
    return waiting(set, situation, workload);
  }

  private List<JobAction> waiting(SetView set, Situation situation, Workload workload) {
    if (!sameCount(set, workload) || !sameTemplate(set, workload)) {
      return withPriority(
          situation,
          priority ->
              new PatchWorkload(
                  workload,
                  composer.rewrite(set.job(), podSets(set.job()), priority),
                  "Updated Workload " + workload.id() + " to what the StatefulSet says now"));
    }
    if (SetWorkloads.isOnHold(workload)) {
      StatusPatch patch =
          StatusPatch.of(workload, situation.now())
              .dropReservation("PendingEvaluation", "The StatefulSet is scaled up from 0");
      return List.of(new PatchStatus(workload, patch.build(), "taken from hold"));
    }
    return upkeep.inStep(situation, workload);
  }

  /** Nothing is to run: when nothing does any more, the quota goes back. */
  private List<JobAction> hold(SetView set, Workload workload, Situation situation) {
    if (set.present() > 0 || SetWorkloads.isOnHold(workload)) {
      return List.of();
    }
    StatusPatch patch =
        StatusPatch.of(workload, situation.now())
            .dropReservation("OnHold", "The StatefulSet is scaled to 0");
    if (rules.podsReady()) {
      PodsReady.begin(patch);
    }
    Evictions.forgetPlace(patch, workload, situation.now());
    return List.of(new PatchStatus(workload, patch.build(), "put on hold"));
  }

  private static boolean sameCount(SetView set, Workload workload) {
    List<Workload.PodSet> podSets = workload.spec().podSets();
    return podSets.size() == 1 && podSets.getFirst().count() == set.replicas();
  }

  private static boolean sameTemplate(SetView set, Workload workload) {
    return set.job()
        .podSets()
        .getFirst()
        .fingerprint()
        .full()
        .equals(workload.spec().podSets().getFirst().template().fingerprint());
  }

  private static boolean isOwned(Workload workload, JobRef set) {
    return workload.coOwners().stream().anyMatch(owner -> owner.uid().equals(set.uid()))
        || workload.owner().filter(owner -> owner.uid().equals(set.uid())).isPresent();
  }

  /** The set becomes an owner beside those that are there. */
  private static PatchWorkload adopt(Workload workload, JobRef set) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ArrayNode owners = patch.putObject("metadata").putArray("ownerReferences");
    workload.owner().ifPresent(owner -> owners.add(reference(owner).put("controller", true)));
    workload.coOwners().forEach(owner -> owners.add(reference(owner)));
    owners.add(reference(set));
    return new PatchWorkload(workload, patch, "");
  }

  private static ObjectNode reference(JobRef set) {
    return reference(
        new Workload.Owner(set.kind().apiVersion(), set.kind().kind(), set.name(), set.uid()));
  }

  private static ObjectNode reference(Workload.Owner owner) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("apiVersion", owner.apiVersion())
        .put("kind", owner.kind())
        .put("name", owner.name())
        .put("uid", owner.uid());
  }

  private List<PodSetTemplate> podSets(JobView job) {
    try {
      JsonNode object = JSON.readTree(job.text());
      return adapter.podSets(object);
    } catch (JsonProcessingException ownText) {
      throw new IllegalStateException("the text of " + job.ref() + " is not JSON", ownText);
    }
  }

  private static List<JobAction> withPriority(
      Situation situation, Function<PrioritySource.Found, JobAction> action) {
    return switch (PrioritySource.of(situation.job(), situation.priorities())) {
      case PrioritySource.Found found -> List.of(action.apply(found));
      case PrioritySource.Missing missing ->
          List.of(
              new Warn(
                  "WorkloadPriorityClassNotFound",
                  "%s \"%s\" does not exist".formatted(missing.kind(), missing.name())),
              new LookAgain(RETRY));
    };
  }
}
