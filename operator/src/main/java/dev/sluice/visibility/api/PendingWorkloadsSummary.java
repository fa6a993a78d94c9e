package dev.sluice.visibility.api;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The pending Workloads of a queue, as the API shows them. A Workload that is gone by the time it
 * is written keeps its place, with what the engine knows of it.
 *
 * @param version the version of the API that was asked
 * @param positions a page of the queue, in its order
 * @param workloads where owners and base priorities are looked up
 * @param starts when Workloads are expected to start, as far as that is known; those of other
 *     queues may be among them
 */
public record PendingWorkloadsSummary(
    String version,
    List<PendingPosition> positions,
    WorkloadLister workloads,
    Map<WorkloadId, StartEstimate> starts) {

  /**
   * Writes the object, one Workload after the other.
   *
   * @throws IOException when the stream fails
   */
  public void writeTo(OutputStream out) throws IOException {
    JsonGenerator json = JsonMappers.JSON.getFactory().createGenerator(out);
    json.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
    json.writeStartObject();
    json.writeStringField("kind", "PendingWorkloadsSummary");
    json.writeStringField("apiVersion", VisibilityApi.GROUP + "/" + version);
    json.writeObjectFieldStart("metadata");
    json.writeEndObject();
    json.writeArrayFieldStart("items");
    for (PendingPosition position : positions) {
      write(json, position);
    }
    json.writeEndArray();
    json.writeEndObject();
    json.close();
  }

  private void write(JsonGenerator json, PendingPosition position) throws IOException {
    Optional<CachedWorkload> workload =
        workloads
            .get(position.id().namespace(), position.id().name())
            .filter(found -> found.id().equals(position.id()));
    json.writeStartObject();
    json.writeObjectFieldStart("metadata");
    json.writeStringField("name", position.id().name());
    json.writeStringField("namespace", position.id().namespace());
    json.writeStringField("creationTimestamp", position.createdAt().toString());
    if (workload.isPresent()) {
      writeOwners(json, workload.get());
    }
    json.writeEndObject();
    long priority =
        workload.map(known -> (long) known.spec().priority()).orElse(position.priority());
    json.writeNumberField("priority", priority);
    json.writeStringField("localQueueName", position.queueName());
    json.writeNumberField("positionInClusterQueue", position.inClusterQueue());
    json.writeNumberField("positionInLocalQueue", position.inLocalQueue());
    StartEstimate start = starts.get(position.id());
    if (start != null) {
      writeStart(json, start);
    }
    json.writeEndObject();
  }

  private static void writeStart(JsonGenerator json, StartEstimate start) throws IOException {
    if (start.range().isPresent()) {
      StartEstimate.StartRange range = start.range().get();
      json.writeStringField("estimatedStartTime", time(range.expected()));
      if (range.latest().isPresent()) {
        json.writeStringField("latestStartTime", time(range.latest().get()));
      }
    }
    json.writeStringField("estimateBasis", start.basis().apiName());
  }

  /** A time as the API writes it. */
  private static String time(Instant instant) {
    return instant.truncatedTo(ChronoUnit.SECONDS).toString();
  }

  private static void writeOwners(JsonGenerator json, CachedWorkload workload) throws IOException {
    if (workload.owner().isEmpty() && workload.coOwners().isEmpty()) {
      return;
    }
    json.writeArrayFieldStart("ownerReferences");
    if (workload.owner().isPresent()) {
      write(json, workload.owner().get());
    }
    for (CachedWorkload.Owner owner : workload.coOwners()) {
      write(json, owner);
    }
    json.writeEndArray();
  }

  private static void write(JsonGenerator json, CachedWorkload.Owner owner) throws IOException {
    json.writeStartObject();
    json.writeStringField("apiVersion", owner.apiVersion());
    json.writeStringField("kind", owner.kind());
    json.writeStringField("name", owner.name());
    json.writeStringField("uid", owner.uid());
    json.writeEndObject();
  }
}
