package dev.sluice.webhooks.kinds;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.webhooks.review.AdmissionResult;
import dev.sluice.webhooks.review.FieldErrors;
import dev.sluice.webhooks.review.FieldPath;
import dev.sluice.webhooks.review.JsonPatch;
import dev.sluice.webhooks.review.NumberReader;
import dev.sluice.webhooks.review.SemanticEquality;
import dev.sluice.webhooks.review.WebhookRouter.AdmissionRequest;
import dev.sluice.webhooks.rules.ClusterLookup;
import dev.sluice.webhooks.rules.JobMetadataValidation.AdmissionGateValidation;
import dev.sluice.webhooks.rules.JobMetadataValidation.PodsReadyValidation;
import dev.sluice.webhooks.rules.LabelValidation;
import dev.sluice.webhooks.rules.NameValidation;
import dev.sluice.webhooks.rules.PlacementValidation;
import dev.sluice.webhooks.rules.PodTemplateValidation;
import dev.sluice.webhooks.rules.ResourceGroupValidation.QuantityValidation;
import dev.sluice.webhooks.rules.RunTimeValidation;
import dev.sluice.webhooks.rules.TopologyValidation;
import dev.sluice.webhooks.rules.TopologyValidation.PodSetShape;
import dev.sluice.webhooks.rules.WebhookSettings;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Webhook for Workloads: defaults and validation of the spec. */
final class WorkloadWebhook {

  private static final FieldPath POD_SETS = FieldPath.of("spec", "podSets");

  private final WebhookSettings settings;
  private final TopologyValidation topology;
  private final PodTemplateValidation templates;
  private final WorkloadStatusValidation status;
  private final WorkloadUpdateValidation update;

  WorkloadWebhook(WebhookSettings settings) {
    this.settings = settings;
    this.templates = new PodTemplateValidation(settings);
    this.status = new WorkloadStatusValidation();
    this.topology = new TopologyValidation(settings);
    this.update = new WorkloadUpdateValidation(settings);
  }

  AdmissionResult mutate(AdmissionRequest request, ClusterLookup cluster) {
    JsonPatch patch = new JsonPatch(request.object());
    RunTimeValidation.limitWorkload(request, cluster, patch);
    if (request.isCreate() && !settings.isOn(FeatureGate.PARTIAL_ADMISSION)) {
      int count = JsonFields.list(request.object(), "spec", "podSets").size();
      for (int i = 0; i < count; i++) {
        patch.removeFromElement("minCount", i, "spec", "podSets");
      }
    }
    return AdmissionResult.patched(patch);
  }

  AdmissionResult validate(AdmissionRequest request) {
    if (request.isFinalizing()) {
      return AdmissionResult.allowed();
    }
    FieldErrors errors = new FieldErrors();
    WorkloadReview now = new WorkloadReview(request.object(), isElastic(request.object()));
    if (isSpecToBeChecked(request)) {
      spec(now, errors);
      annotations(JsonFields.annotations(request.object()), errors);
    }
    if (request.isUpdate()) {
      WorkloadReview before =
          new WorkloadReview(request.oldObject(), isElastic(request.oldObject()));
      status.validate(now, before, errors);
      update.validate(now, before, errors);
    } else {
      status.validate(now, WorkloadReview.NONE, errors);
    }
    return AdmissionResult.of(errors.errors());
  }

  /**
   * Whether the spec must be validated: an unchanged spec does not block an update of the status.
   */
  private static boolean isSpecToBeChecked(AdmissionRequest request) {
    return !request.isUpdate()
        || !JsonFields.at(request.object(), "spec")
            .equals(JsonFields.at(request.oldObject(), "spec"))
        || !JsonFields.annotations(request.object())
            .equals(JsonFields.annotations(request.oldObject()));
  }

  private boolean isElastic(JsonNode object) {
    return settings.isOn(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES)
        && "true".equals(JsonFields.annotations(object).get(KueueConstants.ELASTIC_JOB));
  }

  private void spec(WorkloadReview workload, FieldErrors errors) {
    List<JsonNode> podSets = workload.podSets();
    if (podSets.size() > PodSetTemplate.MOST) {
      errors.tooMany(POD_SETS, podSets.size(), PodSetTemplate.MOST, "items");
      return;
    }
    int partial = 0;
    for (int i = 0; i < podSets.size(); i++) {
      JsonNode podSet = podSets.get(i);
      FieldPath path = POD_SETS.index(i);
      templates.validate(path.child("template"), JsonFields.at(podSet, "template"), errors);
      if (JsonFields.isPresent(podSet, "minCount")) {
        partial++;
        if (workload.isElastic()) {
          errors.invalid(
              path.child("minCount"),
              JsonFields.at(podSet, "minCount"),
              "must not be given together with annotation " + KueueConstants.ELASTIC_JOB + "=true");
        }
      }
      JsonNode groups = JsonFields.at(podSet, "topologyRequest", "subGroupCount");
      if (groups.asLong() < 0) {
        errors.invalid(
            path.child("topologyRequest").child("subGroupCount"),
            groups,
            "must be greater than or equal to 0");
      }
      if (settings.isOn(FeatureGate.TAS_VALIDATE_WORKLOAD_SLICE_SIZE)) {
        slices(path.child("topologyRequest"), JsonFields.at(podSet, "topologyRequest"), errors);
      }
    }
    if (settings.isOn(FeatureGate.TAS_TOPOLOGY_SPREADING)) {
      topology.validateSpreading(shapes(podSets), errors);
    }
    if (partial > 1) {
      errors.invalid(POD_SETS, partial + " with minCount", "at most one podSet can use minCount");
    }
  }

  private static List<PodSetShape> shapes(List<JsonNode> podSets) {
    List<PodSetShape> shapes = new ArrayList<>(podSets.size());
    for (int i = 0; i < podSets.size(); i++) {
      shapes.add(shape(POD_SETS.index(i), podSets.get(i)));
    }
    return shapes;
  }

  /** A pod set with the annotations of its template, and the name of its group. */
  private static PodSetShape shape(FieldPath path, JsonNode podSet) {
    JsonNode template = JsonFields.at(podSet, "template");
    Map<String, String> annotations = JsonFields.annotations(template);
    String group = JsonFields.text(podSet, "topologyRequest", "podSetGroupName");
    if (!group.isEmpty()) {
      annotations.put(KueueConstants.PODSET_GROUP_NAME, group);
    }
    return new PodSetShape(
        JsonFields.at(podSet, "count").asLong(1),
        path.child("template").child("metadata").child("annotations"),
        annotations);
  }

  private static void slices(FieldPath path, JsonNode request, FieldErrors errors) {
    boolean topology = JsonFields.isPresent(request, "podSetSliceRequiredTopology");
    JsonNode size = JsonFields.at(request, "podSetSliceSize");
    FieldPath sizePath = path.child("podSetSliceSize");
    if (topology && size.isMissingNode()) {
      errors.required(sizePath, "must be set when podSetSliceRequiredTopology is");
    } else if (!topology && !size.isMissingNode()) {
      errors.forbidden(sizePath, "may not be set without podSetSliceRequiredTopology, now " + size);
    }
    if (!size.isMissingNode() && size.asLong() <= 0) {
      errors.invalid(sizePath, size, "must be greater than or equal to 1");
    }
  }

  private void annotations(Map<String, String> annotations, FieldErrors errors) {
    if (settings.isOn(FeatureGate.ADMISSION_GATED_BY)) {
      AdmissionGateValidation.validateObject(annotations, errors);
    }
    PlacementValidation.validateObject(annotations, errors);
    RunTimeValidation.validateObject(annotations, errors);
    PodsReadyValidation.validateObject(annotations, settings, errors);
    String boost = annotations.get(KueueConstants.PRIORITY_BOOST);
    if (settings.isOn(FeatureGate.PRIORITY_BOOST)
        && boost != null
        && NumberReader.int32(boost).isEmpty()) {
      errors.invalid(
          FieldPath.of("metadata", "annotations").key(KueueConstants.PRIORITY_BOOST),
          boost,
          "must be a whole number from " + Integer.MIN_VALUE + " to " + Integer.MAX_VALUE);
    }
  }

  /** Validates which fields of a Workload may change, and when. */
  private static final class WorkloadUpdateValidation {

    private static final FieldPath STATUS = FieldPath.of("status");
    private static final FieldPath POD_SETS = FieldPath.of("spec", "podSets");

    private final WebhookSettings settings;

    WorkloadUpdateValidation(WebhookSettings settings) {
      this.settings = settings;
    }

    void validate(WorkloadReview now, WorkloadReview before, FieldErrors errors) {
      if (before.hasQuota()) {
        podSets(now, before, errors);
      }
      if (before.hasQuota() && now.hasQuota()) {
        reclaimable(now, before, errors);
      }
      admission(now, before, errors);
      checks(now, before, errors);
      clusterName(now, before, errors);
      if (settings.isOn(FeatureGate.ADMISSION_GATED_BY)) {
        AdmissionGateValidation.validateUpdate(
            JsonFields.annotations(before.object()), JsonFields.annotations(now.object()), errors);
      }
    }

    private void podSets(WorkloadReview now, WorkloadReview before, FieldErrors errors) {
      List<JsonNode> is = now.podSets();
      List<JsonNode> was = before.podSets();
      if (same(is, was)) {
        return;
      }
      if (!settings.isOn(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES) || is.size() != was.size()) {
        errors.immutable(
            POD_SETS, JsonFields.at(now.object(), "spec", "podSets"), "while quota is reserved");
        return;
      }
      for (int i = 0; i < is.size(); i++) {
        FieldPath path = POD_SETS.index(i);
        if (!SemanticEquality.same(without(is.get(i), "count"), without(was.get(i), "count"))) {
          errors.immutable(path, is.get(i), "while quota is reserved, except for a lower count");
        } else if (JsonFields.at(is.get(i), "count").asLong(1)
            > JsonFields.at(was.get(i), "count").asLong(1)) {
          errors.invalid(
              path.child("count"),
              JsonFields.at(is.get(i), "count"),
              "may only be lowered while quota is reserved, from "
                  + JsonFields.at(was.get(i), "count").asLong(1));
        }
      }
    }

    private static boolean same(List<JsonNode> one, List<JsonNode> other) {
      return one.size() == other.size()
          && IntStream.range(0, one.size())
              .allMatch(i -> SemanticEquality.same(one.get(i), other.get(i)));
    }

    private void reclaimable(WorkloadReview now, WorkloadReview before, FieldErrors errors) {
      Map<String, Long> is = now.reclaimable();
      Map<String, Long> counts = now.counts();
      Map<String, Long> admitted = now.admittedCounts();
      before
          .reclaimable()
          .forEach(
              (name, was) -> {
                long count = is.getOrDefault(name, 0L);
                long pods = counts.getOrDefault(name, 0L);
                boolean scaledDown =
                    settings.isOn(FeatureGate.ELASTIC_JOBS_VIA_WORKLOAD_SLICES)
                        && (pods < before.counts().getOrDefault(name, 0L)
                            || pods < admitted.getOrDefault(name, 0L));
                boolean gone = !is.containsKey(name);
                // An elastic job needs quota again for pods that were reclaimed before it shrinks.
                if ((count < was || gone) && !now.isElastic() && !scaledDown) {
                  errors.invalid(
                      STATUS.child("reclaimablePods").key(name).child("count"),
                      JsonFields.at(now.status(), "reclaimablePods"),
                      "cannot be less than " + was + " while quota is reserved");
                }
              });
    }

    private static void admission(WorkloadReview now, WorkloadReview before, FieldErrors errors) {
      JsonNode is = JsonFields.at(now.status(), "admission");
      JsonNode was = JsonFields.at(before.status(), "admission");
      if (!is.isMissingNode()
          && !was.isMissingNode()
          && !SemanticEquality.same(withoutTopology(is), withoutTopology(was))) {
        errors.immutable(STATUS.child("admission"), is, "once set, it can only be taken away");
      }
    }

    private static JsonNode withoutTopology(JsonNode admission) {
      JsonNode copy = admission.deepCopy();
      for (JsonNode assignment : JsonFields.list(copy, "podSetAssignments")) {
        if (assignment instanceof ObjectNode fields) {
          fields.remove(List.of("topologyAssignment", "delayedTopologyRequest"));
        }
      }
      return copy;
    }

    private static JsonNode without(JsonNode node, String field) {
      JsonNode copy = node.deepCopy();
      if (copy instanceof ObjectNode fields) {
        fields.remove(field);
      }
      return copy;
    }

    private static void checks(WorkloadReview now, WorkloadReview before, FieldErrors errors) {
      Map<String, JsonNode> was = before.checks();
      List<JsonNode> checks = JsonFields.list(now.status(), "admissionChecks");
      for (int i = 0; i < checks.size(); i++) {
        JsonNode old = was.get(WorkloadReview.nameOf(checks.get(i)));
        if (old != null
            && JsonFields.text(old, "state").equals("Ready")
            && JsonFields.text(checks.get(i), "state").equals("Ready")
            && !same(
                JsonFields.list(old, "podSetUpdates"),
                JsonFields.list(checks.get(i), "podSetUpdates"))) {
          errors.immutable(
              STATUS.child("admissionChecks").index(i).child("podSetUpdates"),
              JsonFields.at(checks.get(i), "podSetUpdates"),
              "while the check is Ready");
        }
      }
    }

    private static void clusterName(WorkloadReview now, WorkloadReview before, FieldErrors errors) {
      String is = JsonFields.text(now.status(), "clusterName");
      boolean isNew = !is.isEmpty() && JsonFields.text(before.status(), "clusterName").isEmpty();
      List<String> nominated = JsonFields.texts(before.status(), "nominatedClusterNames");
      boolean replacesSlice =
          JsonFields.annotations(now.object())
              .containsKey(KueueConstants.WORKLOAD_SLICE_REPLACEMENT_FOR);
      if (isNew && !nominated.contains(is) && !replacesSlice) {
        errors.notSupported(STATUS.child("clusterName"), is, nominated);
      }
    }
  }

  /** Validates the status of a Workload. */
  private static final class WorkloadStatusValidation {

    private static final FieldPath STATUS = FieldPath.of("status");
    private static final FieldPath ADMISSION = STATUS.child("admission");
    private static final Pattern REASON =
        Pattern.compile("[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?");
    private static final int MAX_REASON = 1024;
    private static final int MAX_MESSAGE = 32768;
    private static final Set<String> STATUSES = Set.of("True", "False", "Unknown");
    private static final int MILLI_DIGITS = 3;

    void validate(WorkloadReview now, WorkloadReview before, FieldErrors errors) {
      conditions(now, before, errors);
      if (now.hasQuota() && !now.hasAdmission() && !(before.hasQuota() && !before.hasAdmission())) {
        errors.required(ADMISSION, "must be set while condition QuotaReserved is True");
      }
      assignments(now, before, errors);
      reclaimable(now, before, errors);
      podSetUpdates(now, before, errors);
    }

    private static void conditions(WorkloadReview now, WorkloadReview before, FieldErrors errors) {
      List<JsonNode> conditions = JsonFields.list(now.status(), "conditions");
      if (conditions.equals(JsonFields.list(before.status(), "conditions"))) {
        return;
      }
      for (int i = 0; i < conditions.size(); i++) {
        condition(STATUS.child("conditions").index(i), conditions.get(i), errors);
      }
    }

    private static void condition(FieldPath path, JsonNode condition, FieldErrors errors) {
      String type = JsonFields.text(condition, "type");
      errors.invalid(path.child("type"), type, NameValidation.qualified(type));
      String status = JsonFields.text(condition, "status");
      if (!STATUSES.contains(status)) {
        errors.notSupported(path.child("status"), status, STATUSES);
      }
      String reason = JsonFields.text(condition, "reason");
      if (reason.isEmpty()) {
        errors.required(path.child("reason"), "must be set, a word such as Admitted");
      } else if (reason.length() > MAX_REASON || !REASON.matcher(reason).matches()) {
        errors.invalid(
            path.child("reason"),
            reason,
            "must have at most " + MAX_REASON + " characters that match " + REASON);
      }
      if (JsonFields.text(condition, "message").length() > MAX_MESSAGE) {
        errors.invalid(
            path.child("message"),
            JsonFields.text(condition, "message"),
            "must be no more than " + MAX_MESSAGE + " bytes");
      }
      if (!isTime(JsonFields.text(condition, "lastTransitionTime"))) {
        errors.required(path.child("lastTransitionTime"), "must be set");
      }
      if (JsonFields.at(condition, "observedGeneration").asLong() < 0) {
        errors.invalid(
            path.child("observedGeneration"),
            JsonFields.at(condition, "observedGeneration"),
            "must be greater than or equal to zero");
      }
    }

    private static boolean isTime(String text) {
      try {
        OffsetDateTime.parse(text);
        return true;
      } catch (DateTimeException notATime) {
        return false;
      }
    }

    private static void assignments(WorkloadReview now, WorkloadReview before, FieldErrors errors) {
      JsonNode admission = JsonFields.at(now.status(), "admission");
      if (admission.isMissingNode()
          || admission.equals(JsonFields.at(before.status(), "admission"))) {
        return;
      }
      Set<String> known = now.counts().keySet();
      List<JsonNode> assignments = JsonFields.list(admission, "podSetAssignments");
      for (int i = 0; i < assignments.size(); i++) {
        FieldPath path = ADMISSION.child("podSetAssignments").index(i);
        String name = WorkloadReview.nameOf(assignments.get(i));
        if (!known.contains(name)) {
          errors.notSupported(path.child("name"), name, known);
        }
        usage(path.child("resourceUsage"), assignments.get(i), errors);
      }
    }

    private static void usage(FieldPath path, JsonNode assignment, FieldErrors errors) {
      long count = JsonFields.at(assignment, "count").asLong();
      for (Map.Entry<String, JsonNode> entry :
          JsonFields.at(assignment, "resourceUsage").properties()) {
        FieldPath at = path.key(entry.getKey());
        QuantityValidation.checkNonNegative(at, entry.getValue(), errors)
            .filter(amount -> count > 0)
            .map(amount -> units(entry.getKey(), amount))
            .filter(units -> units.remainder(BigDecimal.valueOf(count)).signum() != 0)
            .ifPresent(
                units ->
                    errors.invalid(at, entry.getValue(), "is not a multiple of count, " + count));
      }
    }

    /** The amount in the units of the API: CPU in thousandths, other resources in whole units. */
    private static BigDecimal units(String resource, BigDecimal amount) {
      BigDecimal scaled = resource.equals("cpu") ? amount.movePointRight(MILLI_DIGITS) : amount;
      return scaled.setScale(0, RoundingMode.CEILING);
    }

    private static void reclaimable(WorkloadReview now, WorkloadReview before, FieldErrors errors) {
      Map<String, Long> counts = now.counts();
      Map<String, Long> old = before.reclaimable();
      List<JsonNode> entries = JsonFields.list(now.status(), "reclaimablePods");
      for (int i = 0; i < entries.size(); i++) {
        FieldPath path = STATUS.child("reclaimablePods").index(i);
        String name = WorkloadReview.nameOf(entries.get(i));
        long count = JsonFields.at(entries.get(i), "count").asLong();
        Long max = counts.get(name);
        Long oldCount = old.get(name);
        boolean stale =
            (now.isElastic() || now.hasQuota()) && oldCount != null && oldCount == count;
        if (max == null) {
          errors.notSupported(path.child("name"), name, counts.keySet());
        } else if (count > max && !stale) {
          errors.invalid(
              path.child("count"),
              JsonFields.at(entries.get(i), "count"),
              "should be less than or equal to the count of the pod set, " + max);
        }
      }
    }

    private static void podSetUpdates(
        WorkloadReview now, WorkloadReview before, FieldErrors errors) {
      List<JsonNode> checks = JsonFields.list(now.status(), "admissionChecks");
      if (checks.equals(JsonFields.list(before.status(), "admissionChecks"))) {
        return;
      }
      Set<String> known = now.counts().keySet();
      for (int i = 0; i < checks.size(); i++) {
        List<JsonNode> updates = JsonFields.list(checks.get(i), "podSetUpdates");
        for (int j = 0; j < updates.size(); j++) {
          FieldPath path = STATUS.child("admissionChecks").index(i).child("podSetUpdates").index(j);
          podSetUpdate(path, updates.get(j), known, errors);
        }
      }
    }

    private static void podSetUpdate(
        FieldPath path, JsonNode update, Set<String> known, FieldErrors errors) {
      String name = JsonFields.text(update, "name");
      if (!known.contains(name)) {
        errors.notSupported(path.child("name"), name, known);
      }
      LabelValidation.labels(path.child("labels"), JsonFields.map(update, "labels"), errors);
      LabelValidation.annotations(
          path.child("annotations"), JsonFields.map(update, "annotations"), errors);
      LabelValidation.labels(
          path.child("nodeSelector"), JsonFields.map(update, "nodeSelector"), errors);
      LabelValidation.tolerationKeys(
          path.child("tolerations"), JsonFields.list(update, "tolerations"), errors);
    }
  }

  /**
   * A Workload under review.
   *
   * @param object the whole object
   * @param isElastic whether its size may change while it runs
   */
  private record WorkloadReview(JsonNode object, boolean isElastic) {

    /** The missing old object of a creation. */
    static final WorkloadReview NONE = new WorkloadReview(MissingNode.getInstance(), false);

    boolean hasQuota() {
      return JsonFields.isTrue(object, "QuotaReserved");
    }

    boolean hasAdmission() {
      return JsonFields.isPresent(object, "status", "admission");
    }

    JsonNode status() {
      return JsonFields.at(object, "status");
    }

    List<JsonNode> podSets() {
      return JsonFields.list(object, "spec", "podSets");
    }

    /** Pod counts by pod set. */
    Map<String, Long> counts() {
      Map<String, Long> counts = new LinkedHashMap<>();
      podSets()
          .forEach(podSet -> counts.put(nameOf(podSet), JsonFields.at(podSet, "count").asLong(1)));
      return counts;
    }

    /** Pod counts that quota was reserved for, by pod set. */
    Map<String, Long> admittedCounts() {
      Map<String, Long> counts = new LinkedHashMap<>();
      JsonFields.list(JsonFields.at(status(), "admission"), "podSetAssignments")
          .forEach(it -> counts.put(nameOf(it), JsonFields.at(it, "count").asLong()));
      return counts;
    }

    /** Counts of reclaimable pods, by pod set. */
    Map<String, Long> reclaimable() {
      Map<String, Long> counts = new LinkedHashMap<>();
      JsonFields.list(status(), "reclaimablePods")
          .forEach(it -> counts.put(nameOf(it), JsonFields.at(it, "count").asLong()));
      return counts;
    }

    /** The states of the admission checks, by name. */
    Map<String, JsonNode> checks() {
      Map<String, JsonNode> checks = new LinkedHashMap<>();
      JsonFields.list(status(), "admissionChecks").forEach(it -> checks.put(nameOf(it), it));
      return checks;
    }

    static String nameOf(JsonNode element) {
      String name = JsonFields.text(element, "name");
      return name.isEmpty() ? "main" : name;
    }
  }
}
