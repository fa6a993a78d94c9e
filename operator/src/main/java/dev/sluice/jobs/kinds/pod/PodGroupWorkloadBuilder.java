package dev.sluice.jobs.kinds.pod;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.kind.JobRef;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kinds.pod.PodGroupPolicy.PodGroupAction;
import dev.sluice.jobs.kinds.pod.PodGroupPolicy.PodGroupContext;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.JobAction;
import dev.sluice.jobs.policy.JobAction.AddOwners;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.PatchWorkload;
import dev.sluice.jobs.policy.JobAction.Requeue;
import dev.sluice.jobs.policy.JobAction.Start;
import dev.sluice.jobs.policy.JobAction.Warn;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.PodSetInfos;
import dev.sluice.jobs.policy.WorkloadFactory;
import dev.sluice.jobs.policy.WorkloadFactory.PrioritySource;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.PodRoleHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The Workload of a group made of its pods, and its pods started by what the Workload was given.
 */
final class PodGroupWorkloadBuilder {

  private static final int MOST_ROLES = 18;
  private static final Duration RETRY = Duration.ofSeconds(5);

  private final JobOptions options;
  private final WorkloadFactory factory;

  PodGroupWorkloadBuilder(JobOptions options) {
    this.options = options;
    this.factory = new WorkloadFactory(options);
  }

  /** Whether the Workload of a group's name is the group's. */
  boolean isOf(PodGroup group, CachedWorkload workload) {
    return workload.owner().isEmpty()
        && (group.prebuilt()
            || PodWorkloadFinalizer.isOfGroup(workload)
            || !options.on(FeatureGate.POD_INTEGRATION_VALIDATE_GROUP_OWNER));
  }

  /** The Workload, once enough pods are there. */
  List<PodGroupAction> create(PodGroupContext situation) {
    PodGroup group = situation.group();
    if (!group.fastAdmission() && group.composed().size() < group.totalCount()) {
      return List.of();
    }
    return withPriority(
        situation,
        priority ->
            new CreateWorkload(
                owned(
                    factory.compose(group.asJob(), group.name(), podSets(group), priority),
                    group)));
  }

  private List<PodGroupAction> withPriority(
      PodGroupContext situation, Function<PrioritySource.Found, JobAction> action) {
    CachedJob job = situation.group().asJob();
    int roles = podSets(situation.group()).size();
    if (roles > MOST_ROLES) {
      return List.of(
          new PodGroupAction(
              job,
              new Warn(
                  "ErrWorkloadCompose",
                  "the pods are of %d roles, at most %d are allowed"
                      .formatted(roles, MOST_ROLES))));
    }
    return switch (PrioritySource.of(job, situation.priorities())) {
      case PrioritySource.Found found -> List.of(new PodGroupAction(job, action.apply(found)));
      case PrioritySource.Missing missing ->
          List.of(
              new PodGroupAction(
                  job,
                  new Warn(
                      "WorkloadPriorityClassNotFound",
                      "%s \"%s\" does not exist".formatted(missing.kind(), missing.name()))),
              new PodGroupAction(job, new Requeue(RETRY)));
    };
  }

  private ObjectNode owned(ObjectNode workload, PodGroup group) {
    ObjectNode metadata = workload.withObjectProperty("metadata");
    for (String key : options.copiedLabels()) {
      group.label(key).ifPresent(value -> metadata.withObjectProperty("labels").put(key, value));
    }
    metadata.withObjectProperty("annotations").put(KueueConstants.IS_GROUP_WORKLOAD, "true");
    ArrayNode owners = metadata.putArray("ownerReferences");
    group.runnable().forEach(pod -> owners.add(reference(pod.job().ref())));
    return workload;
  }

  private static ObjectNode reference(JobRef pod) {
    return reference(
        new CachedWorkload.Owner(
            pod.kind().apiVersion(), pod.kind().kind(), pod.name(), pod.uid()));
  }

  private static ObjectNode reference(CachedWorkload.Owner owner) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("apiVersion", owner.apiVersion())
        .put("kind", owner.kind())
        .put("name", owner.name())
        .put("uid", owner.uid());
  }

  /**
   * One per role of the pods that it is made for; with fast admission the first pod stands for all.
   */
  private List<PodSetTemplate> podSets(PodGroup group) {
    List<CachedPod> composed = group.composed();
    if (group.waiting().isEmpty()) {
      return List.of();
    }
    if (group.fastAdmission()) {
      CachedPod first = composed.getFirst();
      return List.of(SinglePod.podSet(first.job().object(), first.role(), group.totalCount()));
    }
    return ordered(PodGroup.byRole(composed)).stream()
        .map(
            role ->
                SinglePod.podSet(
                    role.getValue().getFirst().job().object(),
                    role.getKey(),
                    role.getValue().size()))
        .toList();
  }

  /**
   * The roles by the shape of their pods, so that groups of the same shapes have them in the same
   * order, whatever the roles are called; of one shape, and without the gate, by name.
   */
  private List<Map.Entry<String, List<CachedPod>>> ordered(Map<String, List<CachedPod>> roles) {
    if (!options.on(FeatureGate.POD_GROUP_SCHEDULING_SHAPE_ORDERING)) {
      return List.copyOf(roles.entrySet());
    }
    Map<String, String> shapes = new HashMap<>();
    roles.forEach((role, pods) -> shapes.put(role, shape(pods.getFirst())));
    return roles.entrySet().stream()
        .sorted(
            Comparator.comparing(
                    (Map.Entry<String, List<CachedPod>> role) ->
                        shapes.getOrDefault(role.getKey(), ""))
                .thenComparing(Map.Entry::getKey))
        .toList();
  }

  private static String shape(CachedPod pod) {
    return PodRoleHash.of(pod.job().object().path("spec")).hashed().toString();
  }

  /** What the Workload has to take over from the pods: their roles while it waits, new pods. */
  List<PodGroupAction> update(PodGroupContext situation, CachedWorkload workload) {
    PodGroup group = situation.group();
    if (isOutOfSync(group, workload)) {
      return withPriority(
          situation,
          priority ->
              new PatchWorkload(
                  workload,
                  factory.rewrite(group.asJob(), podSets(group), priority),
                  "Updated Workload " + workload.id() + " to what its pods say now"));
    }
    List<CachedPod> newcomers = newcomers(group, workload);
    return newcomers.isEmpty() || group.hasParent()
        ? List.of()
        : List.of(new PodGroupAction(group.asJob(), addOwners(workload, newcomers)));
  }

  /** The pods of a group that don't own its Workload yet. */
  static List<CachedPod> newcomers(PodGroup group, CachedWorkload workload) {
    Set<String> known =
        workload.coOwners().stream().map(CachedWorkload.Owner::uid).collect(Collectors.toSet());
    return group.notAmong(known);
  }

  /** While nothing is reserved, the group may have been put together anew. */
  private static boolean isOutOfSync(PodGroup group, CachedWorkload workload) {
    boolean byRoles = !group.prebuilt() && !group.fastAdmission() && group.totalCount() > 0;
    if (workload.quotaReserved() || !byRoles || group.waiting().isEmpty()) {
      return false;
    }
    List<CachedPod> composed = group.composed();
    Map<String, Integer> roles = new HashMap<>();
    PodGroup.byRole(composed).forEach((role, pods) -> roles.put(role, pods.size()));
    return composed.size() == group.totalCount() && !roles.equals(PodGroupMembers.counts(workload));
  }

  private static AddOwners addOwners(CachedWorkload workload, List<CachedPod> newcomers) {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    ArrayNode owners = patch.putObject("metadata").putArray("ownerReferences");
    workload.coOwners().forEach(owner -> owners.add(reference(owner)));
    newcomers.forEach(pod -> owners.add(reference(pod.job().ref())));
    return new AddOwners(
        workload,
        patch,
        newcomers.stream()
            .map(CachedPod::name)
            .collect(Collectors.joining(", ", "Added owner references to pods: ", "")));
  }

  /**
   * Starts pods, each with what its role was given, and of no role more than it was given. The
   * others wait until one leaves.
   */
  List<PodGroupAction> start(
      PodGroupContext situation, CachedWorkload workload, List<CachedPod> pods) {
    CachedWorkload.Admission admission = workload.status().admission().orElseThrow();
    try {
      Optional<List<PodSetInfo>> starts =
          PodSetInfos.of(workload, admission, situation.flavors(), options);
      if (starts.isEmpty()) {
        return List.of(
            new PodGroupAction(situation.group().asJob(), new Requeue(Duration.ofSeconds(1))));
      }
      Map<String, PodSetInfo> byRole =
          starts.get().stream().collect(Collectors.toMap(PodSetInfo::name, start -> start));
      Map<String, Integer> taken = new HashMap<>();
      PodGroup.byRole(situation.group().occupying())
          .forEach((role, present) -> taken.put(role, present.size()));
      List<PodGroupAction> steps = new ArrayList<>();
      for (CachedPod pod : pods) {
        PodSetInfo start = byRole.get(pod.role());
        Optional<Warn> refused = refusal(workload, admission, pod);
        if (start == null || refused.isPresent()) {
          steps.add(
              new PodGroupAction(pod.job(), refused.orElseGet(() -> noPodSet(workload, pod))));
        } else if (taken.merge(pod.role(), 1, Integer::sum)
            <= Math.min(start.count(), PodGroupMembers.needed(situation.group(), workload, pod))) {
          steps.add(
              new PodGroupAction(
                  pod.job(),
                  new Start(
                      workload,
                      List.of(SinglePod.start(pod.job().object(), start)),
                      "Admitted by clusterQueue " + admission.clusterQueue())));
        }
      }
      return steps;
    } catch (StartConflictException conflict) {
      return List.of(
          PodGroupPolicy.finish(situation, workload, "FailedToStart", conflict.conflict()));
    }
  }

  /** Why a pod must not start though its role was admitted: it requests more than was admitted. */
  private Optional<Warn> refusal(
      CachedWorkload workload, CachedWorkload.Admission admission, CachedPod pod) {
    for (CachedWorkload.PodSet podSet : workload.spec().podSets()) {
      for (CachedWorkload.Assignment assignment : admission.podSetAssignments()) {
        if (podSet.name().equals(pod.role()) && assignment.name().equals(pod.role())) {
          return options
              .admittedRequests()
              .excess(pod.job().object(), podSet, assignment)
              .map(
                  excess ->
                      new Warn(
                          "PodExceedsAdmission",
                          "The pod stays gated because it requests more than pod set \"%s\" of Workload %s was admitted with per pod: %s"
                              .formatted(pod.role(), workload.id(), excess)));
        }
      }
    }
    return Optional.empty();
  }

  private static Warn noPodSet(CachedWorkload workload, CachedPod pod) {
    return new Warn(
        "ErrWorkloadCompose",
        "Workload %s has no pod set \"%s\" for this pod".formatted(workload.id(), pod.role()));
  }
}
