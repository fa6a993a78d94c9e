package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.ObjectPath;
import dev.sluice.kubequeue.PlannedObject.ObjectId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes planned objects. An object is created only if none has its name, and applied, as field
 * owner {@value SourceMark#FIELD_OWNER}, only if it is still the one that was looked at.
 */
final class PlanWriter {

  private static final Logger LOG = LoggerFactory.getLogger(PlanWriter.class);
  private static final String APPLY = "application/apply-patch+yaml";

  private final ApiClient requests;

  PlanWriter(ApiClient requests) {
    this.requests = requests;
  }

  /** Creates an object; false if that has to be tried again. */
  boolean create(PlannedObject object) {
    ApiOutcome outcome =
        requests
            .send(
                ApiRequest.create(path(object.id()).collection(), body(object))
                    .by(SourceMark.FIELD_OWNER))
            .join();
    return done(object.id(), "created", outcome);
  }

  /** Makes an object as planned; false if that has to be tried again. */
  boolean apply(PlannedObject object, ExistingObject existing) {
    ObjectNode body = body(object);
    body.withObject("/metadata").put("uid", existing.uid());
    String path = path(object.id()).object();
    ApiOutcome outcome =
        requests
            .send(
                new ApiRequest(
                    "PATCH",
                    path + "?fieldManager=" + SourceMark.FIELD_OWNER + "&force=true",
                    APPLY,
                    body.toString()))
            .join();
    if (outcome instanceof ApiOutcome.Written written
        && PlanDifference.differs(object, annotations(written), written.object().path("spec"))) {
      ObjectNode rest = PlanDifference.patch(object);
      rest.withObject("/metadata").put("uid", existing.uid());
      return done(
          object.id(),
          "patched",
          requests.send(ApiRequest.patch(path, rest).by(SourceMark.FIELD_OWNER)).join());
    }
    return done(object.id(), "applied", outcome);
  }

  private static JsonNode annotations(ApiOutcome.Written written) {
    return written.object().path("metadata").path("annotations");
  }

  /** Deletes an object; false if that has to be tried again. */
  boolean delete(ObjectId id, ExistingObject existing) {
    ApiOutcome outcome = requests.send(ApiRequest.delete(path(id).object(), existing.uid())).join();
    return done(id, "deleted", outcome);
  }

  private static ObjectPath path(ObjectId id) {
    return new ObjectPath(id.kind().apiVersion(), id.namespace(), id.kind().plural(), id.name());
  }

  private static ObjectNode body(PlannedObject object) {
    ObjectNode body = JsonMappers.JSON.createObjectNode();
    body.put("apiVersion", object.id().kind().apiVersion()).put("kind", object.id().kind().kind());
    ObjectNode metadata = body.putObject("metadata").put("name", object.id().name());
    if (!object.id().namespace().isEmpty()) {
      metadata.put("namespace", object.id().namespace());
    }
    ObjectNode annotations = metadata.putObject("annotations");
    object.annotations().forEach(annotations::put);
    if (object.id().kind() == ObjectKind.QUEUE) {
      ObjectNode labels = metadata.putObject("labels");
      QueueObjects.LABELS.forEach(labels::put);
    }
    body.set("spec", object.spec());
    return body;
  }

  private static boolean done(ObjectId id, String what, ApiOutcome outcome) {
    switch (outcome) {
      case ApiOutcome.Written written -> LOG.info("{} {}=true", id, what);
      case ApiOutcome.Gone gone -> LOG.info("{} {}=false reason=\"{}\"", id, what, gone.message());
      case ApiOutcome.Conflict conflict ->
          LOG.info("{} {}=false reason=\"{}\"", id, what, conflict.message());
      case ApiOutcome.Unreachable unreachable ->
          LOG.debug("{} {}=false reason=\"{}\"", id, what, unreachable.message());
      case ApiOutcome.Refused refused ->
          LOG.warn(
              "{} {}=false code={} reason=\"{}\"", id, what, refused.code(), refused.message());
    }
    return outcome instanceof ApiOutcome.Written
        || (outcome instanceof ApiOutcome.Gone && what.equals("deleted"));
  }
}
