package dev.sluice.jobs.kind;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import java.util.List;
import java.util.Optional;

/**
 * A kind of job that a field suspends and whose objects hold the pod template of every pod set. A
 * subclass tells where the templates are and how the status is read; starting and stopping follow
 * from that. One patch suspends the job and restores its templates, so a stop has no halves.
 */
public abstract class TemplatedJob extends SuspendableJob {

  /**
   * A pod set, and where the object holds its template.
   *
   * @param name its name
   * @param count how many pods; at least 0
   * @param template path of the pod template in the object; empty if the object has none, because
   *     the kind's own controller makes the template
   * @param topologyRequest what it asks of the topology, in the API's form
   */
  public record PodSetSlot(
      String name,
      int count,
      Optional<JsonPointer> template,
      Optional<ObjectNode> topologyRequest) {

    /** A pod set whose template is at a path such as {@code /spec/template}. */
    public static PodSetSlot of(
        JsonNode object, String name, long count, String path, Index index) {
      JsonPointer pointer = JsonPointer.compile(path);
      return new PodSetSlot(
          name,
          (int) Math.clamp(count, 0, Integer.MAX_VALUE),
          Optional.of(pointer),
          index.requestOf(object.at(pointer)));
    }

    /** A pod set of one pod whose template is not in the object. */
    public static PodSetSlot unplaced(String name) {
      return new PodSetSlot(name, 1, Optional.empty(), Optional.empty());
    }

    /** The template in the object; a missing node without one. */
    JsonNode in(JsonNode object) {
      return template.map(object::at).orElseGet(MissingNode::getInstance);
    }
  }

  /**
   * The labels by which pods of a pod set tell their place.
   *
   * @param label the pod's place in the pod set, or in its group
   * @param groupLabel the place of the pod's group; empty if the pod set has no groups
   * @param groups how many groups the pod set has
   */
  public record Index(String label, String groupLabel, int groups) {

    /** Of a pod set without groups. */
    public static Index of(String label) {
      return new Index(label, "", 0);
    }

    private Optional<ObjectNode> requestOf(JsonNode template) {
      return groupLabel.isEmpty()
          ? TopologyRequests.of(template, label)
          : Optional.of(
              TopologyRequests.ranked(template, label)
                  .put("subGroupIndexLabel", groupLabel)
                  .put("subGroupCount", groups));
    }
  }

  /** The pod sets of the job, in the order in which its Workload lists them. */
  protected abstract List<PodSetSlot> slots(JsonNode object);

  /**
   * The template that is accounted for a pod set, where it differs from the template in the object:
   * the kind's own controller adds to it. What a start writes and a stop restores is the template
   * in the object.
   */
  protected JsonNode accounted(JsonNode object, PodSetSlot slot) {
    return slot.in(object);
  }

  @Override
  protected final boolean looksStarted(JsonNode object) {
    return slots(object).stream().anyMatch(slot -> looksStarted(object, slot));
  }

  @Override
  public List<ReviewedPodSet> reviewedPodSets(JsonNode object) {
    return slots(object).stream()
        .filter(slot -> slot.template().isPresent())
        .map(
            slot ->
                ReviewedPodSet.ofTemplate(
                    InvalidField.path(slot.template().get()), slot.count(), slot.in(object)))
        .toList();
  }

  @Override
  public final List<JsonPointer> elasticTemplates(JsonNode object) {
    return canBeElastic()
        ? slots(object).stream()
            .filter(slot -> !keepsSize(slot.name()))
            .flatMap(slot -> slot.template().stream())
            .toList()
        : List.of();
  }

  private static boolean looksStarted(JsonNode object, PodSetSlot slot) {
    return slot.in(object).path("metadata").path("labels").has(KueueConstants.PODSET);
  }

  @Override
  public final List<PodSetTemplate> podSets(JsonNode object) {
    return slots(object).stream()
        .map(
            slot ->
                new PodSetTemplate(
                    slot.name(),
                    slot.count(),
                    0,
                    accounted(object, slot) instanceof ObjectNode template
                        ? template
                        : JsonNodeFactory.instance.objectNode(),
                    slot.topologyRequest()))
        .toList();
  }

  /**
   * Writes what a start adds: templates that the kind's own controller would make, so that the
   * start can give to them, and annotations that a job has while it runs.
   *
   * @param job is changed in place
   */
  protected void writeTemplates(ObjectNode job) {}

  /**
   * Removes what {@link #writeTemplates} wrote, after a stop has restored it.
   *
   * @param job is changed in place
   */
  protected void removeTemplates(ObjectNode job) {}

  @Override
  protected final void give(ObjectNode job, List<PodSetInfo> starts) throws StartConflictException {
    writeTemplates(job);
    for (PodSetInfo start : starts) {
      PodSetSlot slot = partOf(slots(job), PodSetSlot::name, start);
      if (slot.template().isPresent()) {
        PodTemplateMerger.merge(template(job, slot), start);
      }
    }
  }

  private static ObjectNode template(ObjectNode object, PodSetSlot slot)
      throws StartConflictException {
    if (slot.in(object) instanceof ObjectNode found) {
      return found;
    }
    throw new StartConflictException("the job has no template of pod set " + slot.name());
  }

  @Override
  protected final void takeBack(
      JsonNode object, ObjectNode job, Optional<List<PodSetTemplate>> original) {
    for (PodSetSlot slot : slots(object)) {
      if (looksStarted(object, slot) && slot.in(job) instanceof ObjectNode found) {
        templateOf(original, slot.name())
            .ifPresentOrElse(template -> restore(found, template), () -> unmark(found));
      }
    }
    removeTemplates(job);
  }

  /** Metadata that a start added to a template without any goes, too. */
  private static void restore(ObjectNode template, JsonNode original) {
    PodTemplateMerger.restore(template, original);
    if (!original.has("metadata") && template.path("metadata").isEmpty()) {
      template.remove("metadata");
    }
  }

  /** Without the original, what is known to come from a start is removed, and the rest stays. */
  private static void unmark(ObjectNode template) {
    if (template.path("metadata").path("labels") instanceof ObjectNode labels) {
      labels.remove(PodTemplateMerger.MARKS);
    }
  }
}
