package dev.sluice.webhooks.review;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
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
  private static final int UNAVAILABLE = 503;
  private static final int TIMEOUT = 504;

  /** The reasons of the API for the codes of reviews that were not computed. */
  private static final Map<Integer, String> REASONS =
      Map.of(
          400,
          "BadRequest",
          413,
          "RequestEntityTooLarge",
          UNAVAILABLE,
          "ServiceUnavailable",
          TIMEOUT,
          "Timeout");

  /** Objects in the head of a review, and the field of each that is read. */
  private static final Map<String, String> NESTED = Map.of("kind", "kind", "userInfo", "username");

  private static final ObjectMapper JSON =
      new ObjectMapper(
          JsonFactory.builder()
              // A table of names costs most where each name is another one, as strangers write
              // them.
              .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
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
   * What a review says before the object that it is about: who asks, and for what.
   *
   * @param uid identifier to repeat in the response; empty if the body is no review
   * @param kind kind of the object
   * @param namespace empty for objects without one, or if it isn't known
   * @param name empty if the API server is to generate one, or if it isn't known
   * @param user name of the requesting user; empty if it isn't known
   */
  public record Head(String uid, String kind, String namespace, String name, String user) {

    /** Of a body that is no review. */
    public static final Head NONE = new Head("", "", "", "", "");
  }

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

  /**
   * Reads the head of a review, which API servers write before the object; nothing that comes after
   * the object is read.
   */
  public static Head head(InputStream body) {
    try (JsonParser parser = JSON.getFactory().createParser(body)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return Head.NONE;
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        boolean found = parser.currentName().equals("request");
        if (parser.nextToken() == JsonToken.START_OBJECT && found) {
          return request(parser);
        }
        parser.skipChildren();
      }
    } catch (IOException noReview) {
      return Head.NONE;
    }
    return Head.NONE;
  }

  private static Head request(JsonParser parser) throws IOException {
    Map<String, String> found = new HashMap<>();
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String field = parser.currentName();
      JsonToken value = parser.nextToken();
      if (field.equals("object") || field.equals("oldObject")) {
        break;
      } else if (value == JsonToken.START_OBJECT && NESTED.containsKey(field)) {
        found.put(field, text(parser, NESTED.getOrDefault(field, "")));
      } else if (value == JsonToken.VALUE_STRING) {
        found.put(field, parser.getText());
      } else {
        parser.skipChildren();
      }
    }
    return new Head(
        found.getOrDefault("uid", ""),
        found.getOrDefault("kind", ""),
        found.getOrDefault("namespace", ""),
        found.getOrDefault("name", ""),
        found.getOrDefault("userInfo", ""));
  }

  /** The text of one field of an object, which is read to its end. */
  private static String text(JsonParser parser, String wanted) throws IOException {
    String found = "";
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      boolean matches = parser.currentName().equals(wanted);
      if (parser.nextToken() == JsonToken.VALUE_STRING && matches) {
        found = parser.getText();
      }
      parser.skipChildren();
    }
    return found;
  }

  /**
   * The response to a review that was not computed: the request is refused, whatever the
   * registration says about failures, since an object that must be held would pass otherwise.
   *
   * @param code 400 if it can't be read, 413 if it is too large, 503 if others were in the way, so
   *     that the client may try again at once, 504 if it took too long
   * @param why what the user is told
   */
  public static Reply unanswered(Head head, int code, String why) {
    if (head.uid().isEmpty()) {
      return text(code == TIMEOUT ? UNAVAILABLE : code, why);
    }
    ObjectNode answer = JSON.createObjectNode();
    answer.put("apiVersion", "admission.k8s.io/v1").put("kind", "AdmissionReview");
    ObjectNode response = answer.putObject("response");
    response.put("uid", head.uid()).put("allowed", false);
    ObjectNode status = response.putObject("status");
    status
        .put("status", "Failure")
        .put("message", "the request was not reviewed, and so is refused: " + why)
        .put("reason", REASONS.getOrDefault(code, "InternalError"))
        .put("code", code);
    if (code == UNAVAILABLE) {
      status.putObject("details").put("retryAfterSeconds", 1);
    }
    return json(answer);
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
      return text(UNAVAILABLE, String.valueOf(e.getMessage()));
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

  /**
   * A webhook needs a fact about the cluster before the cluster has been listed. The request has to
   * be repeated later; this is not an error of the program.
   */
  public static final class ClusterNotListedException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message says what is missing, for the client
     */
    public ClusterNotListedException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /**
   * An admission request of the API server.
   *
   * @param uid identifier to repeat in the response
   * @param operation the operation
   * @param subResource empty for the object itself
   * @param group API group of the kind, empty for the core group
   * @param kind kind of the object
   * @param namespace empty for cluster-scoped objects
   * @param name empty if the API server is to generate one
   * @param requestingUser who sent the request
   * @param object the new object; missing on deletion
   * @param oldObject the present object; missing on creation
   * @param dryRun whether nothing will be stored
   */
  public record AdmissionRequest(
      String uid,
      Operation operation,
      String subResource,
      String group,
      String kind,
      String namespace,
      String name,
      RequestingUser requestingUser,
      JsonNode object,
      JsonNode oldObject,
      boolean dryRun) {

    /** Operations on an object. */
    public enum Operation {
      /** Creation. */
      CREATE,
      /** Update. */
      UPDATE,
      /** Deletion. */
      DELETE,
      /** Connection to a subresource. */
      CONNECT
    }

    /**
     * Reads the request of an AdmissionReview.
     *
     * @throws IllegalArgumentException if the review is malformed; the message says what is missing
     */
    static AdmissionRequest of(JsonNode review) {
      if (!JsonFields.text(review, "kind").equals("AdmissionReview")) {
        throw new IllegalArgumentException("kind must be AdmissionReview");
      }
      JsonNode request = JsonFields.at(review, "request");
      String uid = JsonFields.text(request, "uid");
      if (uid.isEmpty()) {
        throw new IllegalArgumentException("request.uid is missing");
      }
      return new AdmissionRequest(
          uid,
          operation(JsonFields.text(request, "operation")),
          JsonFields.text(request, "subResource"),
          JsonFields.text(request, "kind", "group"),
          JsonFields.text(request, "kind", "kind"),
          JsonFields.text(request, "namespace"),
          JsonFields.text(request, "name"),
          RequestingUser.of(request),
          JsonFields.at(request, "object"),
          JsonFields.at(request, "oldObject"),
          JsonFields.at(request, "dryRun").asBoolean());
    }

    private static Operation operation(String text) {
      for (Operation operation : Operation.values()) {
        if (operation.name().equals(text)) {
          return operation;
        }
      }
      throw new IllegalArgumentException(
          "request.operation: \"" + text + "\" is none of CREATE, UPDATE, DELETE, CONNECT");
    }

    /**
     * The errors of the object, without those that the old object already had: these do not block
     * an update. Errors beyond {@link FieldErrors#MOST_KEPT} can't be compared, and do.
     *
     * @return a new list, which the caller may change
     */
    public List<FieldError> newErrors(Function<JsonNode, List<FieldError>> validateObject) {
      List<FieldError> errors = new ArrayList<>(validateObject.apply(object));
      if (isUpdate() && !errors.isEmpty()) {
        Set<FieldError> known = new HashSet<>(validateObject.apply(oldObject));
        errors.removeIf(error -> !error.isFurther() && known.contains(error));
      }
      return errors;
    }

    /** The name of the requesting user. */
    public String user() {
      return requestingUser.name();
    }

    /** Whether the operation creates the object. */
    public boolean isCreate() {
      return operation == Operation.CREATE;
    }

    /** Whether the operation updates the object. */
    public boolean isUpdate() {
      return operation == Operation.UPDATE;
    }

    /** Whether the object is being deleted and its spec does not change. */
    public boolean isFinalizing() {
      return isUpdate()
          && JsonFields.isPresent(object, "metadata", "deletionTimestamp")
          && JsonFields.at(object, "spec").equals(JsonFields.at(oldObject, "spec"));
    }
  }

  /**
   * Who sent a request to the API server.
   *
   * @param name the name of the user
   * @param groups the groups of the user
   * @param isKnown whether the API server says so; if not, the groups are not known
   */
  public record RequestingUser(String name, Set<String> groups, boolean isKnown) {

    private static final String ACCOUNT = "system:serviceaccount:";

    /** Copies the groups. */
    public RequestingUser {
      groups = Set.copyOf(groups);
    }

    /**
     * Who shares what each tenant may ask for: all service accounts of a namespace, of which
     * whoever may create one has as many as he likes, or one user.
     */
    public String tenant() {
      return name.startsWith(ACCOUNT) ? name.substring(0, name.lastIndexOf(':')) : name;
    }

    /** A user of whom only the name is known. */
    public static RequestingUser named(String name) {
      return new RequestingUser(name, Set.of(), false);
    }

    /** The user of the request of an AdmissionReview. */
    static RequestingUser of(JsonNode request) {
      Set<String> groups = new LinkedHashSet<>();
      for (JsonNode group : JsonFields.list(request, "userInfo", "groups")) {
        groups.add(group.asText());
      }
      return new RequestingUser(JsonFields.text(request, "userInfo", "username"), groups, true);
    }
  }
}
