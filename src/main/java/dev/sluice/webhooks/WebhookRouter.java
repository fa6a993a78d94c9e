package dev.sluice.webhooks;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Routes the body of a review to the function of its path and returns the body of the response.
 * Stateless.
 */
public final class WebhookRouter {

  /** An object has at most 3 MiB, and a review contains two objects. */
  private static final int MAX_BYTES = 8 * 1024 * 1024;

  private static final int MAX_DEPTH = 200;
  private static final int MAX_TOKENS = 1_000_000;
  private static final int FORBIDDEN = 403;
  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder()
                      .maxNestingDepth(MAX_DEPTH)
                      .maxTokenCount(MAX_TOKENS)
                      .maxStringLength(MAX_BYTES)
                      .maxDocumentLength(MAX_BYTES)
                      .build())
              .build());

  private final Map<String, AdmissionFunction> functions;

  /**
   * A response.
   *
   * @param status 200, 400 if the body is not a review, or 404 for an unknown path
   * @param isJson whether the body is JSON; otherwise text
   * @param body the body; must not be modified
   */
  public record Reply(int status, boolean isJson, byte[] body) {}

  /**
   * Creates a router.
   *
   * @param functions functions by path
   */
  public WebhookRouter(Map<String, AdmissionFunction> functions) {
    this.functions = Map.copyOf(functions);
  }

  /** Whether a webhook exists at this path. */
  public boolean knows(String path) {
    return functions.containsKey(path);
  }

  /** Handles the body posted to a path. */
  public Reply answer(String path, InputStream body) {
    AdmissionFunction function = functions.get(path);
    if (function == null) {
      return text(404, "no webhook at " + path);
    }
    try {
      JsonNode review = JSON.readTree(body);
      if (review == null || !review.isObject()) {
        return text(400, "the body must be a JSON object");
      }
      return json(reviewed(function, review));
    } catch (JsonProcessingException e) {
      return text(400, "the body is not JSON: " + e.getOriginalMessage());
    } catch (IOException | IllegalArgumentException e) {
      return text(400, "the body is not a review: " + e.getMessage());
    } catch (ClusterNotListedException e) {
      return text(503, String.valueOf(e.getMessage()));
    }
  }

  private static JsonNode reviewed(AdmissionFunction function, JsonNode review) {
    AdmissionRequest request = AdmissionRequest.of(review);
    ObjectNode answer = JSON.createObjectNode();
    answer.put("apiVersion", "admission.k8s.io/v1").put("kind", "AdmissionReview");
    ObjectNode response = answer.putObject("response");
    response.put("uid", request.uid());
    switch (function.review(request)) {
      case AdmissionResult.Allowed allowed -> write(allowed, response);
      case AdmissionResult.Rejected rejected -> write(rejected, request, response);
    }
    return answer;
  }

  private static void write(AdmissionResult.Allowed rejected, ObjectNode response) {
    response.put("allowed", true);
    if (!rejected.patch().isEmpty()) {
      response.put("patchType", "JSONPatch");
      response.put("patch", rejected.patch().toString().getBytes(StandardCharsets.UTF_8));
    }
    if (!rejected.warnings().isEmpty()) {
      var warnings = response.putArray("warnings");
      rejected.warnings().forEach(warnings::add);
    }
  }

  private static void write(
      AdmissionResult.Rejected rejected, AdmissionRequest request, ObjectNode response) {
    response.put("allowed", false);
    ObjectNode status = response.putObject("status");
    status
        .put("status", "Failure")
        .put("message", message(rejected))
        .put("reason", "Forbidden")
        .put("code", FORBIDDEN);
    ObjectNode details = status.putObject("details");
    details.put("name", request.name()).put("group", request.group()).put("kind", request.kind());
    var causes = details.putArray("causes");
    for (FieldError error : rejected.errors()) {
      causes
          .addObject()
          .put("reason", error.kind().reason())
          .put("message", error.body())
          .put("field", error.path().text());
    }
  }

  /** The message of the rejection: a single error as it is, several errors as a list. */
  private static String message(AdmissionResult.Rejected rejected) {
    return rejected.errors().size() == 1
        ? rejected.errors().getFirst().message()
        : rejected.errors().stream()
            .map(FieldError::message)
            .collect(Collectors.joining(", ", "[", "]"));
  }

  private static Reply json(JsonNode body) {
    return new Reply(200, true, body.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static Reply text(int status, String text) {
    return new Reply(status, false, (text + "\n").getBytes(StandardCharsets.UTF_8));
  }
}
