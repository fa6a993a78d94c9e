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
 * Takes the finalizers of this API off all objects of a collection, page by page, the objects of a
 * page at the same time. A finalizer of somebody else is left alone. For one thread.
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
      long before = removed;
      List<JsonNode> items = JsonFields.list(page, "items");
      long asked = items.stream().filter(item -> operations(item).isPresent()).count();
      seen += stay(collection, items);
      left = seen + page.path("metadata").path("remainingItemCount").asLong();
      next = JsonFields.text(page, "metadata", "continue");
      useful = asked == 0 || removed > before;
      afterPage.run();
    } while (useful && !next.isEmpty());
  }

  /**
   * How many objects the last sweep left, those that are being deleted included; of objects that
   * are not to go, those with a finalizer.
   */
  long left() {
    return left;
  }

  /** How many objects were freed of finalizers. */
  long removed() {
    return removed;
  }

  /**
   * Why objects stay, by name and no more than twenty; empty if all are being deleted, or free of
   * this API's finalizers.
   */
  List<String> reasons() {
    return List.copyOf(reasons);
  }

  /** Frees the objects of a page, and returns how many of them are left after that. */
  private long stay(Collection collection, List<JsonNode> items) {
    List<Optional<CompletableFuture<ApiOutcome>>> outcomes =
        items.stream()
            .map(
                item ->
                    operations(item)
                        .map(
                            patch ->
                                api.send(
                                    ApiRequest.jsonPatch(collection.path(item).object(), patch))))
            .toList();
    long stay = 0;
    for (int i = 0; i < items.size(); i++) {
      JsonNode item = items.get(i);
      Optional<ApiOutcome> refusal =
          outcomes.get(i).map(CompletableFuture::join).filter(outcome -> !isDone(outcome));
      if (refusal.isEmpty() && outcomes.get(i).isPresent()) {
        removed++;
      }
      List<String> others = collection.goes() ? others(item) : List.of();
      refusal
          .map(
              outcome ->
                  "the API server keeps the finalizer of "
                      + KueueConstants.GROUP
                      + ": "
                      + text(outcome))
          .or(() -> Optional.of(others).filter(it -> !it.isEmpty()).map(FinalizerSweep::othersText))
          .ifPresent(reason -> reason(collection, item, reason));
      boolean ends =
          !collection.goes()
              || (others.isEmpty() && JsonFields.isPresent(item, "metadata", "deletionTimestamp"));
      stay += ends && refusal.isEmpty() ? 0 : 1;
    }
    return stay;
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
