package dev.sluice.install;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.ObjectPath;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Takes the finalizers of this API off all objects of a collection, and deletes the objects where
 * they are to go: page by page, the objects of a page at the same time. A finalizer of somebody
 * else is left alone. For one thread.
 */
final class FinalizerSweep {

  /** How many objects are read at once. */
  static final int PAGE = 500;

  /** The number of objects of a collection that nobody has listed yet. */
  static final long UNKNOWN = Long.MAX_VALUE;

  private static final int NAMED = 20;
  private static final String OURS = KueueConstants.GROUP + "/";

  private final ApiClient api;
  private final Runnable afterPage;
  private final List<String> reasons = new ArrayList<>();
  private long left = UNKNOWN;
  private long removed;

  /**
   * What is swept.
   *
   * @param apiVersion of the objects
   * @param plural of the kind
   * @param kind for people
   * @param label the objects carry this label; empty for all objects
   * @param goes whether the objects are to go, and not just the finalizers
   */
  record Collection(String apiVersion, String plural, String kind, String label, boolean goes) {

    private String page(String next) {
      return new ObjectPath(apiVersion, "", plural, "").collection()
          + "?limit="
          + PAGE
          + (label.isEmpty() ? "" : "&labelSelector=" + coded(label))
          + (next.isEmpty() ? "" : "&continue=" + coded(next));
    }

    private ObjectPath path(JsonNode item) {
      return new ObjectPath(
          apiVersion,
          JsonFields.text(item, "metadata", "namespace"),
          plural,
          JsonFields.text(item, "metadata", "name"));
    }

    private String name(JsonNode item) {
      String namespace = JsonFields.text(item, "metadata", "namespace");
      return kind
          + " "
          + (namespace.isEmpty() ? "" : namespace + "/")
          + JsonFields.text(item, "metadata", "name");
    }

    private static String coded(String text) {
      return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
  }

  /**
   * Nothing is swept yet.
   *
   * @param afterPage called after each page
   */
  FinalizerSweep(ApiClient api, Runnable afterPage) {
    this.api = api;
    this.afterPage = afterPage;
  }

  /**
   * Sweeps once. A page of which the API server refuses every change ends it: the same would become
   * of the next page.
   */
  void run(Collection collection) {
    reasons.clear();
    long seen = 0;
    String next = "";
    boolean useful;
    do {
      ApiOutcome outcome = api.send(ApiRequest.get(collection.page(next))).join();
      if (outcome instanceof ApiOutcome.Gone) {
        left = 0;
        return;
      }
      if (!(outcome instanceof ApiOutcome.Written written)) {
        reasons.add(collection.plural() + ": can't be listed: " + text(outcome));
        return;
      }
      ObjectNode page = written.object();
      Result result = free(collection, JsonFields.list(page, "items"));
      seen += result.left();
      left = seen + page.path("metadata").path("remainingItemCount").asLong();
      next = JsonFields.text(page, "metadata", "continue");
      useful = result.useful();
      afterPage.run();
    } while (useful && !next.isEmpty());
  }

  /**
   * How many objects the last sweep left, as far as it came; of objects that are not to go, those
   * with a finalizer of this API.
   */
  long left() {
    return left;
  }

  /** How many objects were freed of finalizers. */
  long removed() {
    return removed;
  }

  /** Why objects stay, by name and no more than twenty. */
  List<String> reasons() {
    return List.copyOf(reasons);
  }

  /**
   * What became of the objects of a page.
   *
   * @param useful whether the next page is worth a try
   */
  private record Result(long left, boolean useful) {}

  private Result free(Collection collection, List<JsonNode> items) {
    List<Optional<CompletableFuture<ApiOutcome>>> outcomes =
        items.stream().map(item -> free(collection, item)).toList();
    long left = 0;
    long asked = 0;
    long refused = 0;
    for (int i = 0; i < items.size(); i++) {
      JsonNode item = items.get(i);
      Optional<ApiOutcome> outcome = outcomes.get(i).map(CompletableFuture::join);
      Optional<ApiOutcome> refusal = outcome.filter(it -> !isDone(it));
      asked += outcome.isPresent() ? 1 : 0;
      refused += refusal.isPresent() ? 1 : 0;
      removed += refusal.isEmpty() && operations(item).isPresent() ? 1 : 0;
      List<String> others = collection.goes() ? others(item) : List.of();
      if (refusal.isPresent()) {
        reason(collection, item, "the API server refuses its removal: " + text(refusal.get()));
      } else if (!others.isEmpty()) {
        reason(collection, item, othersText(others));
      }
      left += refusal.isPresent() || !others.isEmpty() ? 1 : 0;
    }
    return new Result(left, asked == 0 || refused < asked);
  }

  /** Asks for what is to be done with an object; empty if that is nothing. */
  private Optional<CompletableFuture<ApiOutcome>> free(Collection collection, JsonNode item) {
    String path = collection.path(item).object();
    Optional<CompletableFuture<ApiOutcome>> freed =
        operations(item).map(patch -> api.send(ApiRequest.jsonPatch(path, patch)));
    if (!collection.goes() || JsonFields.isPresent(item, "metadata", "deletionTimestamp")) {
      return freed;
    }
    ApiRequest deletion = ApiRequest.delete(path, JsonFields.text(item, "metadata", "uid"));
    return Optional.of(
        freed
            .map(
                patched ->
                    patched.thenCompose(
                        outcome ->
                            outcome instanceof ApiOutcome.Written
                                ? api.send(deletion)
                                : CompletableFuture.completedFuture(outcome)))
            .orElseGet(() -> api.send(deletion)));
  }

  private void reason(Collection collection, JsonNode item, String reason) {
    if (reasons.size() < NAMED) {
      reasons.add(collection.name(item) + ": " + reason);
    }
  }

  /** That finalizers of others hold an object. */
  static String othersText(List<String> others) {
    return "held by "
        + String.join(", ", others)
        + (others.size() == 1 ? ", a finalizer of another owner" : ", finalizers of other owners")
        + ", who has to remove it";
  }

  private static boolean isDone(ApiOutcome outcome) {
    return outcome instanceof ApiOutcome.Written || outcome instanceof ApiOutcome.Gone;
  }

  /**
   * The patch that takes the finalizers of this API off an object and leaves the others; empty if
   * it has none. The API server refuses it when the finalizers are not those that were read, so
   * that one which was added meanwhile is not lost.
   */
  static Optional<ArrayNode> operations(JsonNode object) {
    List<String> present = JsonFields.texts(object, "metadata", "finalizers");
    List<String> others = others(object);
    if (present.size() == others.size()) {
      return Optional.empty();
    }
    ArrayNode patch = JsonNodeFactory.instance.arrayNode();
    operation(patch, "test", present);
    operation(patch, "replace", others);
    return Optional.of(patch);
  }

  private static void operation(ArrayNode patch, String operation, List<String> finalizers) {
    ArrayNode value =
        patch
            .addObject()
            .put("op", operation)
            .put("path", "/metadata/finalizers")
            .putArray("value");
    finalizers.forEach(value::add);
  }

  private static List<String> others(JsonNode object) {
    return JsonFields.texts(object, "metadata", "finalizers").stream()
        .filter(finalizer -> !finalizer.startsWith(OURS))
        .toList();
  }

  /** Why a request had no success. */
  static String text(ApiOutcome outcome) {
    return switch (outcome) {
      case ApiOutcome.Written written -> "";
      case ApiOutcome.Gone gone -> gone.message();
      case ApiOutcome.Conflict conflict -> conflict.message();
      case ApiOutcome.Refused refused -> refused.message();
      case ApiOutcome.Unreachable unreachable ->
          String.valueOf(unreachable.exception().getMessage());
    };
  }
}
