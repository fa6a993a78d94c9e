package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.TextLimits;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.placement.LocalClusterAnnotations;
import dev.sluice.api.queueing.CostAnnotations;
import dev.sluice.api.queueing.FlavorPrices;
import dev.sluice.api.queueing.NodeCapacityAnnotations;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.api.queueing.RunTimeAnnotations;
import dev.sluice.api.sluice.BudgetReader;
import dev.sluice.api.sluice.JobKindReader;
import dev.sluice.api.sluice.ReservationReader;
import dev.sluice.api.sluice.SpecFault;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.webhooks.kinds.QueueUseProtection.Subject;
import dev.sluice.webhooks.review.AdmissionFunction;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.JsonPatch;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.JobDefaults.JobMetadata;
import dev.sluice.webhooks.rules.LabelValidation;
import dev.sluice.webhooks.rules.NameValidation;
import dev.sluice.webhooks.rules.QueueAnnotationValidation;
import dev.sluice.webhooks.rules.ResourceGroupValidation;
import dev.sluice.webhooks.rules.StoredSize;
import dev.sluice.webhooks.rules.UnknownSluiceKeys;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.function.Function;
import java.util.stream.Stream;

/** Assigns the admission functions to paths. */
public final class Webhooks {

  /** The most characters of a name that a warning has; longer ones are no names. */
  private static final int MAX_SHOWN = 64;

  /** An API server shows warnings of 4096 characters together, and shortens each. */
  private static final int MOST_WARNINGS = 8;

  private static final int MAX_WARNING = 250;

  private Webhooks() {}

  /**
   * A function for every path of {@link WebhookKind#all}. Kinds whose integration is disabled or
   * not supported allow every request unchanged.
   */
  public static Map<String, AdmissionFunction> functions(
      WebhookSettings settings, ClusterLookup cluster) {
    return functions(settings, cluster, WebhookKind.all(settings.declared()));
  }

  /** The same, for these kinds. */
  static Map<String, AdmissionFunction> functions(
      WebhookSettings settings, ClusterLookup cluster, List<WebhookKind> kinds) {
    Map<String, AdmissionFunction> functions = new HashMap<>();
    for (WebhookKind kind : kinds) {
      KindWebhook webhook =
          kind.isEnabledBy(settings.frameworks())
              ? KindWebhook.of(kind, settings, cluster)
              : new KindWebhook.AllowingWebhook();
      if (!kind.mutating().isEmpty()) {
        functions.put(kind.mutatingPath(), webhook::mutate);
      }
      AdmissionFunction validate = webhook::validate;
      if (!kind.isOwn() && kind.isEnabledBy(settings.frameworks())) {
        validate =
            new RoomProtection(
                new QueueUseProtection(
                    settings, cluster, kind.isPod() ? Subject.POD : Subject.JOB, validate));
      }
      if (kind.isPod()) {
        validate = new PodResizeProtection(cluster, validate);
      }
      functions.put(
          kind.validatingPath(),
          kind.isOwn() ? validate : new RemoteStatusProtection(cluster, validate));
    }
    functions.put(PodsOfJobsWebhook.PATH, new PodsOfJobsWebhook(cluster));
    functions.put(PodGroupMembershipWebhook.PATH, new PodGroupMembershipWebhook(cluster));
    ownKinds(settings, cluster, functions);
    functions.replaceAll(
        (path, function) ->
            path.startsWith("/validate") ? new UnknownSluiceKeys(function) : function);
    return Map.copyOf(functions);
  }

  private static void ownKinds(
      WebhookSettings settings, ClusterLookup cluster, Map<String, AdmissionFunction> functions) {
    ClusterQueueWebhook clusterQueues = new ClusterQueueWebhook(settings);
    functions.put("/mutate-kueue-x-k8s-io-v1beta2-clusterqueue", clusterQueues::mutate);
    functions.put("/validate-kueue-x-k8s-io-v1beta2-clusterqueue", clusterQueues::validate);
    functions.put("/mutate-kueue-x-k8s-io-v1beta2-resourceflavor", ResourceFlavorWebhook::mutate);
    functions.put(
        "/validate-kueue-x-k8s-io-v1beta2-resourceflavor", ResourceFlavorWebhook::validate);
    functions.put("/validate-kueue-x-k8s-io-v1beta2-cohort", new CohortWebhook(cluster)::validate);
    functions.put(
        "/validate-kueue-x-k8s-io-v1beta2-localqueue",
        request ->
            validateAnnotations(
                request, annotations -> QueueAnnotations.ofLocalQueue(annotations).faults()));
    functions.put(
        "/validate-kueue-x-k8s-io-v1beta2-workloadpriorityclass",
        request ->
            validateAnnotations(
                request, annotations -> QueueAnnotations.ofPriorityClass(annotations).faults()));
    functions.put(
        "/validate-kueue-x-k8s-io-v1beta2-admissioncheck", Webhooks::validateAdmissionCheck);
    functions.put(
        "/validate-sluice-dev-v1alpha1-budget",
        request ->
            validateSpec(
                request,
                spec -> BudgetReader.read(nameOf(request), spec).faults(),
                Stream.concat(
                        missingQueue(request, cluster).stream(),
                        unknownRunTimes(request, cluster).stream())
                    .toList()));
    functions.put(
        "/validate-sluice-dev-v1alpha1-jobkind",
        request ->
            validateSpec(
                request, spec -> JobKindReader.read(nameOf(request), spec).faults(), List.of()));
    for (ReservationReader.Kind kind : ReservationReader.Kind.values()) {
      functions.put(
          "/validate-sluice-dev-v1alpha1-" + kind.apiName().toLowerCase(Locale.ROOT),
          request ->
              validateSpec(
                  request,
                  spec -> ReservationReader.read(kind, spec).faults(),
                  missingTargets(request, kind, cluster)));
    }
    WorkloadWebhook workloads = new WorkloadWebhook(settings);
    functions.put(
        "/mutate-kueue-x-k8s-io-v1beta2-workload", request -> workloads.mutate(request, cluster));
    AdmissionFunction validate =
        new QueueUseProtection(settings, cluster, Subject.WORKLOAD, workloads::validate);
    functions.put(
        "/validate-kueue-x-k8s-io-v1beta2-workload",
        settings.isOn(FeatureGate.CONCURRENT_ADMISSION)
            ? new VariantProtection(cluster, validate)
            : validate);
  }

  private static String nameOf(AdmissionRequest request) {
    return JsonFields.text(request.object(), "metadata", "name");
  }

  /** Validates the spec of an object of a kind of this program alone. */
  private static AdmissionResult validateSpec(
      AdmissionRequest request, Function<JsonNode, List<SpecFault>> reader, List<String> warnings) {
    FieldErrors errors = new FieldErrors();
    if (!request.isFinalizing()) {
      reader
          .apply(JsonFields.at(request.object(), "spec"))
          .forEach(
              fault -> errors.invalid(new FieldPath(fault.path()), fault.value(), fault.rule()));
    }
    return AdmissionResult.of(errors.errors(), warnings);
  }

  /** A queue may come later. Until then the budget counts nothing, which nothing else tells. */
  private static List<String> missingQueue(AdmissionRequest request, ClusterLookup cluster) {
    String queue = JsonFields.text(request.object(), "spec", "scope", "clusterQueue");
    return request.isFinalizing()
            || queue.isEmpty()
            || cluster.clusterQueuesWithout(queue).isEmpty()
        ? List.of()
        : List.of(
            "there is no ClusterQueue %s yet, so the budget counts nothing until there is one"
                .formatted(TextLimits.shown(queue, MAX_SHOWN)));
  }

  /**
   * Jobs that said nothing of their run time wait from now on, although nothing is spent: who adds
   * such a budget to a cluster that runs stops its queues.
   */
  private static Optional<String> unknownRunTimes(AdmissionRequest request, ClusterLookup cluster) {
    Optional<BudgetSpec.Scope> scope = reserved(request.object());
    if (request.isFinalizing()
        || scope.isEmpty()
        || (request.isUpdate() && scope.equals(reserved(request.oldObject())))) {
      return Optional.empty();
    }
    Optional<SortedSet<LocalQueueId>> queues = cluster.queuesWithoutRunTime(scope.get());
    if (queues.filter(SortedSet::isEmpty).isPresent()) {
      return Optional.empty();
    }
    String where =
        queues
            .map(
                found ->
                    " in LocalQueue "
                        + TextLimits.shown(found.first().toString(), MAX_SHOWN)
                        + (found.size() > 1 ? " and %d more".formatted(found.size() - 1) : ""))
            .orElse("");
    return Optional.of(
        "spec.charge: Reserved (the default) keeps every job of unknown run time%s from starting: set %s of the queue, or charge: AsUsed"
            .formatted(where, RunTimeAnnotations.DEFAULT));
  }

  /**
   * The scope in which a Budget holds what can't be shown to end inside; empty if it holds none.
   */
  private static Optional<BudgetSpec.Scope> reserved(JsonNode budget) {
    return BudgetReader.read("", JsonFields.at(budget, "spec"))
        .budget()
        .filter(spec -> spec.holds() && spec.reserves())
        .map(BudgetSpec::scope);
  }

  /** What a reservation or a window names, and may come later. */
  private static List<String> missingTargets(
      AdmissionRequest request, ReservationReader.Kind kind, ClusterLookup cluster) {
    if (request.isFinalizing()) {
      return List.of();
    }
    return ReservationReader.read(kind, JsonFields.at(request.object(), "spec"))
        .spec()
        .flatMap(cluster::compared)
        .map(
            comparison ->
                comparison.warnings(
                    kind == ReservationReader.Kind.CAPACITY_RESERVATION ? "reservation" : "window"))
        .orElse(List.of())
        .stream()
        .limit(MOST_WARNINGS)
        .map(warning -> TextLimits.shown(warning, MAX_WARNING))
        .toList();
  }

  /** Validates the annotations of an object whose fields the schema validates. */
  private static AdmissionResult validateAnnotations(
      AdmissionRequest request, Function<Map<String, String>, Map<String, String>> faults) {
    FieldErrors errors = new FieldErrors();
    if (!request.isFinalizing()) {
      QueueAnnotationValidation.validate(request, faults, errors);
    }
    return AdmissionResult.of(errors.errors(), List.of());
  }

  /** Validates the annotations of an AdmissionCheck whose controller reads them. */
  private static AdmissionResult validateAdmissionCheck(AdmissionRequest request) {
    FieldErrors errors = new FieldErrors();
    if (!request.isFinalizing()
        && JsonFields.text(request.object(), "spec", "controllerName")
            .equals(NodeCapacityAnnotations.CONTROLLER)) {
      QueueAnnotationValidation.validate(
          request, annotations -> NodeCapacityAnnotations.of(annotations).faults(), errors);
    }
    return AdmissionResult.of(errors.errors(), List.of());
  }

  /**
   * Rejects changes of the remote-status annotation by users other than the operator: quota is held
   * and released according to it. Delegates everything else to another function.
   */
  private static final class RemoteStatusProtection implements AdmissionFunction {

    private final ClusterLookup cluster;
    private final AdmissionFunction behind;

    RemoteStatusProtection(ClusterLookup cluster, AdmissionFunction behind) {
      this.cluster = cluster;
      this.behind = behind;
    }

    @Override
    public AdmissionResult review(AdmissionRequest request) {
      String now = status(request.object());
      String before = status(request.oldObject());
      if (Objects.equals(now, before)
          || !(request.isCreate() || request.isUpdate())
          || cluster.isOperator(request.user())) {
        return behind.review(request);
      }
      FieldErrors errors = new FieldErrors();
      errors.operatorOnly(JobMetadata.ANNOTATIONS.key(LocalClusterAnnotations.REMOTE_STATUS));
      return new AdmissionResult.Rejected(errors.errors());
    }

    private static String status(JsonNode object) {
      return JsonFields.at(object, "metadata", "annotations", LocalClusterAnnotations.REMOTE_STATUS)
          .toString();
    }
  }

  /** Webhook for Cohorts. */
  static final class CohortWebhook {

    private static final ResourceGroupValidation QUOTAS =
        new ResourceGroupValidation("parentName", false);

    /** Cohorts nest less deep than this; what is beyond isn't searched for a cycle. */
    private static final int DEEPEST = 100;

    private final ClusterLookup cluster;

    CohortWebhook(ClusterLookup cluster) {
      this.cluster = cluster;
    }

    AdmissionResult validate(AdmissionRequest request) {
      if (request.isFinalizing()) {
        return AdmissionResult.allowed();
      }
      FieldErrors errors = new FieldErrors();
      JsonNode spec = JsonFields.at(request.object(), "spec");
      String parent = JsonFields.text(spec, "parentName");
      if (!parent.isEmpty()) {
        errors.invalid(
            FieldPath.of("spec", "parentName"), parent, NameValidation.subdomain(parent));
      }
      QUOTAS.validate(spec, errors);
      ResourceGroupValidation.weight(spec, errors);
      QueueAnnotationValidation.validate(
          request, annotations -> QueueAnnotations.ofCohort(annotations).faults(), errors);
      return AdmissionResult.of(errors.errors(), warnings(request.object(), parent));
    }

    /** A cycle is not refused: it may be the way to another order. Who closes one is warned. */
    private List<String> warnings(JsonNode cohort, String parent) {
      String name = JsonFields.text(cohort, "metadata", "name");
      Set<String> members = new LinkedHashSet<>();
      String above = parent;
      while (!above.isEmpty() && !above.equals(name) && members.size() < DEEPEST) {
        above = members.add(above) ? cluster.parentOfCohort(above) : "";
      }
      if (above.isEmpty() || !above.equals(name)) {
        return List.of();
      }
      return List.of(
          members.isEmpty()
              ? "as its own parent the Cohort makes the ClusterQueues below it inactive"
              : "the parents of the Cohort form a cycle, %s → %s → %s, which makes the ClusterQueues below it inactive"
                  .formatted(name, String.join(" → ", members), name));
    }
  }

  /** Webhook for ResourceFlavors. */
  static final class ResourceFlavorWebhook {

    private static final FieldPath SPEC = FieldPath.of("spec");

    private ResourceFlavorWebhook() {}

    static AdmissionResult mutate(AdmissionRequest request) {
      JsonPatch patch = new JsonPatch(request.object());
      if (request.isCreate()) {
        patch.append(TextNode.valueOf(KueueConstants.RESOURCE_IN_USE), "metadata", "finalizers");
      }
      return AdmissionResult.patched(patch);
    }

    static AdmissionResult validate(AdmissionRequest request) {
      if (request.isFinalizing()) {
        return AdmissionResult.allowed();
      }
      FieldErrors errors = new FieldErrors();
      JsonNode spec = JsonFields.at(request.object(), "spec");
      LabelValidation.labels(SPEC.child("nodeLabels"), JsonFields.map(spec, "nodeLabels"), errors);
      taints(JsonFields.list(spec, "nodeTaints"), errors);
      LabelValidation.tolerationKeys(
          SPEC.child("tolerations"), JsonFields.list(spec, "tolerations"), errors);
      price(request, errors);
      QueueAnnotationValidation.validate(
          request, annotations -> CostAnnotations.ofFlavor(annotations).faults(), errors);
      return AdmissionResult.of(errors.errors());
    }

    /** Only a new value is refused: a flavor that has a wrong one may be changed otherwise. */
    private static void price(AdmissionRequest request, FieldErrors errors) {
      Map<String, String> annotations = JsonFields.map(request.object(), "metadata", "annotations");
      String price = annotations.getOrDefault(FlavorPrices.ANNOTATION, "");
      String before =
          JsonFields.map(request.oldObject(), "metadata", "annotations")
              .getOrDefault(FlavorPrices.ANNOTATION, "");
      if (!price.equals(before)) {
        FlavorPrices.of(annotations)
            .fault()
            .ifPresent(
                fault ->
                    errors.invalid(
                        JobMetadata.ANNOTATIONS.key(FlavorPrices.ANNOTATION),
                        price,
                        List.of(fault)));
      }
    }

    private static void taints(List<JsonNode> taints, FieldErrors errors) {
      Set<String> seen = new HashSet<>();
      for (int i = 0; i < taints.size(); i++) {
        FieldPath path = SPEC.child("nodeTaints").index(i);
        String key = JsonFields.text(taints.get(i), "key");
        String value = JsonFields.text(taints.get(i), "value");
        String effect = JsonFields.text(taints.get(i), "effect");
        errors.invalid(path.child("key"), key, NameValidation.qualified(key));
        errors.invalid(path.child("value"), value, NameValidation.labelValue(value));
        if (!seen.add(key + ":" + effect)) {
          errors.duplicate(path, key + ":" + effect, "key and effect of a taint must be unique");
        }
      }
    }
  }

  /**
   * Rejects jobs and pods that grow so large that their end finds no room: the API server stores
   * 1.5 MiB, and could store neither that a job is suspended nor that a pod is being deleted
   * (docs/webhooks.md#what-is-done-to-a-job). Delegates everything else to another function.
   */
  private static final class RoomProtection implements AdmissionFunction {

    private static final long MOST = 1280 * 1024;

    private final AdmissionFunction function;

    RoomProtection(AdmissionFunction function) {
      this.function = function;
    }

    @Override
    public AdmissionResult review(AdmissionRequest request) {
      if ((request.isCreate() || request.isUpdate()) && !request.isFinalizing()) {
        long bytes = StoredSize.of(request.object());
        if (bytes > MOST && bytes > StoredSize.of(request.oldObject())) {
          FieldErrors errors = new FieldErrors();
          errors.forbidden(
              FieldPath.of("metadata"),
              "the object would take %d bytes, with its spec and status; it may take %d, so that its end can be stored"
                  .formatted(bytes, MOST));
          return new AdmissionResult.Rejected(errors.errors());
        }
      }
      return function.review(request);
    }
  }

  /**
   * Rejects changes of what makes a Workload a parent or a variant by users other than the operator
   * (docs/concurrent-admission.md#who-may-write-the-relation): quota is charged according to it.
   * Delegates everything else to another function.
   */
  private static final class VariantProtection implements AdmissionFunction {

    private static final FieldPath METADATA = FieldPath.of("metadata");
    private static final String WRITTEN_BY = "is written by the operator alone";

    private final ClusterLookup cluster;
    private final AdmissionFunction next;

    VariantProtection(ClusterLookup cluster, AdmissionFunction next) {
      this.cluster = cluster;
      this.next = next;
    }

    @Override
    public AdmissionResult review(AdmissionRequest request) {
      if (!(request.isCreate() || request.isUpdate()) || cluster.isOperator(request.user())) {
        return next.review(request);
      }
      JsonNode now = request.object();
      JsonNode before = request.oldObject();
      FieldErrors errors = new FieldErrors();
      if (!labelOf(now).equals(labelOf(before))) {
        errors.operatorOnly(
            METADATA.child("labels").key(KueueConstants.CONCURRENT_ADMISSION_PARENT));
      }
      if (!flavorOf(now).equals(flavorOf(before))) {
        errors.operatorOnly(
            METADATA.child("annotations").key(KueueConstants.ALLOWED_RESOURCE_FLAVORS));
      }
      if (!parentsOf(now).equals(parentsOf(before))) {
        errors.forbidden(
            METADATA.child("ownerReferences"), "a Workload as the owner " + WRITTEN_BY);
      }
      if (!flavorOf(before).isEmpty()
          && !JsonFields.at(now, "spec").equals(JsonFields.at(before, "spec"))) {
        errors.forbidden(FieldPath.of("spec"), "of a variant " + WRITTEN_BY);
      }
      return errors.errors().isEmpty()
          ? next.review(request)
          : new AdmissionResult.Rejected(errors.errors());
    }

    private static String labelOf(JsonNode workload) {
      return JsonFields.at(
              workload, "metadata", "labels", KueueConstants.CONCURRENT_ADMISSION_PARENT)
          .asText();
    }

    private static String flavorOf(JsonNode workload) {
      return JsonFields.at(
              workload, "metadata", "annotations", KueueConstants.ALLOWED_RESOURCE_FLAVORS)
          .asText();
    }

    private static List<String> parentsOf(JsonNode workload) {
      return JsonFields.list(workload, "metadata", "ownerReferences").stream()
          .filter(owner -> JsonFields.text(owner, "kind").equals("Workload"))
          .filter(
              owner -> JsonFields.text(owner, "apiVersion").startsWith(KueueConstants.GROUP + "/"))
          .map(owner -> JsonFields.text(owner, "uid"))
          .sorted()
          .toList();
    }
  }

  /**
   * Makes a new pod a member of the PodGroup of kube-scheduler that its annotation names. A
   * template can't say it: that of a Job can't be changed so, and definitions of other kinds don't
   * have the field. A pod that comes after the group was scheduled replaces another one and joins
   * nothing (docs/gang-scheduling.md#replacements).
   */
  public static final class PodGroupMembershipWebhook implements AdmissionFunction {

    /** The path of the webhook. */
    public static final String PATH = "/mutate--v1-pods-of-podgroups";

    /** The expression that a pod is to become a member. */
    public static final String NAMES_A_GROUP =
        "has(object.metadata.annotations) && '"
            + KueueConstants.NATIVE_POD_GROUP
            + "' in object.metadata.annotations";

    private final ClusterLookup cluster;

    PodGroupMembershipWebhook(ClusterLookup cluster) {
      this.cluster = cluster;
    }

    @Override
    public AdmissionResult review(AdmissionRequest request) {
      String podGroup =
          JsonFields.annotations(request.object())
              .getOrDefault(KueueConstants.NATIVE_POD_GROUP, "");
      if (!request.isCreate()
          || !KubernetesNames.isSubdomain(podGroup)
          || JsonFields.at(request.object(), "spec", "schedulingGroup").isObject()
          || cluster.isScheduledPodGroup(request.namespace(), podGroup)) {
        return AdmissionResult.allowed();
      }
      JsonPatch patch = new JsonPatch(request.object());
      patch.set(
          JsonNodeFactory.instance.objectNode().put("podGroupName", podGroup),
          "spec",
          "schedulingGroup");
      return AdmissionResult.patched(patch);
    }
  }

  /**
   * Refuses a pod with which a job would run more than it was admitted with: at its creation, when
   * its last scheduling gate goes, when it gets a controller, and when it is resized
   * (docs/pod-accounting.md#prevent). Ephemeral containers request nothing, so that their addition
   * isn't reviewed.
   */
  public static final class PodsOfJobsWebhook implements AdmissionFunction {

    /** The path of the webhook. */
    public static final String PATH = "/validate--v1-pods-of-jobs";

    /** A pod has a controller that may be a job, or a part of one. */
    private static final String CONTROLLED =
        "(has(%1$s.metadata.ownerReferences) && %1$s.metadata.ownerReferences.exists(r,"
            + " has(r.controller) && r.controller"
            + " && !(r.kind in ['ReplicaSet', 'DaemonSet', 'Node'])))";

    private static final String GETS_A_CONTROLLER =
        "(has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(r,"
            + " has(r.controller) && r.controller && !(has(oldObject.metadata.ownerReferences)"
            + " && oldObject.metadata.ownerReferences.exists(o,"
            + " o.uid == r.uid && has(o.controller) && o.controller))))";

    private static final String GATED =
        "(has(%1$s.spec) && has(%1$s.spec.schedulingGates)"
            + " && size(%1$s.spec.schedulingGates) > 0)";

    /**
     * The expression that a request may add to what a job runs. Pods of ReplicaSets, DaemonSets and
     * Nodes are in no account, and don't wait for an operator.
     */
    public static final String MAY_ADD =
        "(request.operation == 'CREATE' && "
            + CONTROLLED.formatted("object")
            + ") || (request.operation == 'UPDATE' && ("
            + "(has(request.subResource) && request.subResource == 'resize')"
            + " || ("
            + GATED.formatted("oldObject")
            + " && !"
            + GATED.formatted("object")
            + ") || "
            + GETS_A_CONTROLLER
            + "))";

    private final ClusterLookup cluster;

    PodsOfJobsWebhook(ClusterLookup cluster) {
      this.cluster = cluster;
    }

    @Override
    public AdmissionResult review(AdmissionRequest request) {
      FieldErrors bad = new FieldErrors();
      cluster.excessWith(request).ifPresent(excess -> bad.forbidden(path(request), excess));
      return AdmissionResult.of(bad.errors(), List.of());
    }

    private static FieldPath path(AdmissionRequest request) {
      if (request.subResource().equals(PodResizeProtection.RESIZE)) {
        return FieldPath.of("spec", "containers");
      }
      return request.isCreate()
          ? FieldPath.of("metadata", "ownerReferences")
          : FieldPath.of("spec", "schedulingGates");
    }
  }
}
