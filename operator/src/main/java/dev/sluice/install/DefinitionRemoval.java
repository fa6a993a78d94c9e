package dev.sluice.install;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import dev.sluice.install.DefinitionRemoval.FinalizerSweep.Collection;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.ObjectPath;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Removes the definitions of the API and with them all objects, where no operator runs that would
 * take its finalizers away: the definitions are deleted, so that nothing new can be made, this
 * API's finalizers are taken off the objects and off pods, and the end is awaited. What somebody
 * else holds by a finalizer stays. For one thread.
 */
final class DefinitionRemoval {

  private static final int REQUESTS_AT_A_TIME = 32;
  private static final Duration PAUSE = Duration.ofMillis(500);
  private static final Duration BETWEEN_LINES = Duration.ofSeconds(2);

  private static final String DEFINITIONS =
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/";

  /** The API server's own finalizer of a definition: it deletes the objects. */
  private static final String CLEANUP = "customresourcecleanup.apiextensions.k8s.io";

  /** Conditions that say nothing of a deletion. */
  private static final Set<String> SERVING = Set.of("Established", "NamesAccepted");

  private final ApiClient api;
  private final Duration patience;
  private final Consumer<String> progress;
  private final List<Step> steps = new ArrayList<>();
  private final List<FinalizerSweep> sweeps = new ArrayList<>();
  private long toldAt;

  /**
   * Nothing is removed yet.
   *
   * @param namespace the operator's, whose deletion was asked for
   * @param patience how long to go on while nothing more goes
   * @param progress is given a line from time to time, if it takes longer
   */
  DefinitionRemoval(
      KubernetesClient client, String namespace, Duration patience, Consumer<String> progress) {
    this.api = new ApiClient(client, ApiClient.Options.atATime(REQUESTS_AT_A_TIME));
    this.patience = patience;
    this.progress = progress;
    steps.add(new Pods());
    for (String plural : Installer.ALPHA) {
      steps.add(new Definition(plural, ApiVersions.GROUP));
    }
    for (String plural : Installer.PLURALS) {
      steps.add(new Definition(plural, ApiVersions.GROUP));
    }
    for (String plural : Installer.SLUICE_PLURALS) {
      steps.add(new Definition(plural, ApiVersions.SLUICE_GROUP));
    }
    steps.add(new Namespace(namespace));
  }

  /**
   * Removes, and returns when everything is gone, or nothing has gone for as long as the patience.
   *
   * @return a line for each thing that stays, with the reason; empty if everything is gone
   * @throws InterruptedException when the thread is interrupted meanwhile
   */
  List<String> run() throws InterruptedException {
    long since = System.nanoTime();
    toldAt = since;
    while (true) {
      boolean advanced = false;
      for (Step step : List.copyOf(steps)) {
        boolean gone = step.isDone();
        if (gone) {
          steps.remove(step);
        }
        advanced |= gone || step.advanced();
      }
      long now = System.nanoTime();
      if (advanced) {
        since = now;
      }
      if (steps.isEmpty() || now - since > patience.toNanos()) {
        return steps.stream().flatMap(step -> step.remains().stream()).toList();
      }
      tell();
      Thread.sleep(PAUSE);
    }
  }

  /** Reports progress, if the last line is old enough. */
  private void tell() {
    long now = System.nanoTime();
    if (now - toldAt < BETWEEN_LINES.toNanos()) {
      return;
    }
    toldAt = now;
    long definitions = steps.stream().filter(Definition.class::isInstance).count();
    progress.accept(
        "%d objects freed of finalizers; left: %s%d definitions"
            .formatted(
                sweeps.stream().mapToLong(FinalizerSweep::removed).sum(),
                steps.stream()
                    .flatMap(Step::items)
                    .map(item -> item + ", ")
                    .collect(Collectors.joining()),
                definitions));
  }

  /** Something to be removed. */
  private abstract static class Step {

    private long least = FinalizerSweep.UNKNOWN;

    /** Does what can be done now, and returns whether nothing is left to do. */
    abstract boolean isDone();

    /** How much is left. */
    abstract long left();

    /** What is left besides definitions, for the line of progress; empty if that isn't known. */
    abstract Stream<String> items();

    /** What stays, and why. */
    abstract List<String> remains();

    /** Whether less is left than ever before. */
    final boolean advanced() {
      boolean less = left() < least;
      least = Math.min(least, left());
      return less;
    }
  }

  private FinalizerSweep sweep() {
    FinalizerSweep sweep = new FinalizerSweep(api, this::tell);
    sweeps.add(sweep);
    return sweep;
  }

  /** The pods of jobs: they lose the finalizer, and run on. */
  private final class Pods extends Step {

    private final FinalizerSweep sweep = sweep();

    @Override
    boolean isDone() {
      sweep.run(new Collection("v1", "pods", "Pod", KueueConstants.MANAGED, false));
      return sweep.left() == 0;
    }

    @Override
    long left() {
      return sweep.left();
    }

    @Override
    Stream<String> items() {
      return known(sweep, "pods");
    }

    @Override
    List<String> remains() {
      return DefinitionRemoval.remains(
          "the finalizer " + KueueConstants.MANAGED + " of pods", sweep, "pods");
    }
  }

  /** A definition, and all objects of its kind. */
  private final class Definition extends Step {

    private final String plural;
    private final String group;
    private final String name;
    private final FinalizerSweep sweep = sweep();
    private String reason = "";

    Definition(String plural, String group) {
      this.plural = plural;
      this.group = group;
      this.name = plural + "." + group;
    }

    @Override
    boolean isDone() {
      ApiOutcome outcome = api.send(ApiRequest.get(DEFINITIONS + name)).join();
      switch (outcome) {
        case ApiOutcome.Gone gone -> {
          return true;
        }
        case ApiOutcome.Written found -> remove(found.object());
        default -> reason = "can't be read: " + FinalizerSweep.text(outcome);
      }
      return false;
    }

    private void remove(ObjectNode definition) {
      if (!isBeingDeleted(definition)
          && !sent(
              ApiRequest.delete(
                  DEFINITIONS + name, JsonFields.text(definition, "metadata", "uid")))) {
        return;
      }
      String stored = storedVersion(definition);
      if (needsConversion(definition, stored)
          && !sent(ApiRequest.patch(DEFINITIONS + name, noConversion()))) {
        return;
      }
      sweep.run(
          new Collection(
              group + "/" + stored,
              plural,
              JsonFields.text(definition, "spec", "names", "kind"),
              "",
              true));
      reason = reason(definition);
    }

    /** Whether the API server did it; otherwise the reason is why not. */
    private boolean sent(ApiRequest request) {
      ApiOutcome outcome = api.send(request).join();
      reason = FinalizerSweep.text(outcome);
      return outcome instanceof ApiOutcome.Written;
    }

    private String reason(ObjectNode definition) {
      List<String> others =
          JsonFields.texts(definition, "metadata", "finalizers").stream()
              .filter(finalizer -> !finalizer.equals(CLEANUP))
              .toList();
      if (!others.isEmpty()) {
        return FinalizerSweep.othersText(others);
      }
      if (sweep.left() == FinalizerSweep.UNKNOWN) {
        return "its objects can't be listed";
      }
      return sweep.left() == 0 ? deletion(definition) : "objects left: " + sweep.left();
    }

    @Override
    long left() {
      return sweep.left();
    }

    @Override
    Stream<String> items() {
      return known(sweep, plural);
    }

    @Override
    List<String> remains() {
      return DefinitionRemoval.remains(
          "CustomResourceDefinition " + name + ": " + reason, sweep, plural);
    }
  }

  /** The operator's namespace, which the API server is asked to delete by now. */
  private final class Namespace extends Step {

    private final String name;
    private String reason = "";

    Namespace(String name) {
      this.name = name;
    }

    @Override
    boolean isDone() {
      ApiOutcome outcome = api.send(ApiRequest.get("/api/v1/namespaces/" + name)).join();
      reason =
          outcome instanceof ApiOutcome.Written found
              ? deletion(found.object())
              : FinalizerSweep.text(outcome);
      return outcome instanceof ApiOutcome.Gone;
    }

    @Override
    long left() {
      return 1;
    }

    @Override
    Stream<String> items() {
      return Stream.of("namespace " + name);
    }

    @Override
    List<String> remains() {
      return List.of("Namespace " + name + ": " + reason);
    }
  }

  private static List<String> remains(String first, FinalizerSweep sweep, String plural) {
    List<String> lines = new ArrayList<>(List.of(first));
    lines.addAll(sweep.reasons());
    if (sweep.left() != FinalizerSweep.UNKNOWN && sweep.left() > sweep.reasons().size()) {
      lines.add("%d more of %s".formatted(sweep.left() - sweep.reasons().size(), plural));
    }
    return lines;
  }

  private static Stream<String> known(FinalizerSweep sweep, String plural) {
    return Stream.of(sweep.left())
        .filter(left -> left > 0 && left != FinalizerSweep.UNKNOWN)
        .map(left -> left + " " + plural);
  }

  private static boolean isBeingDeleted(JsonNode object) {
    return JsonFields.isPresent(object, "metadata", "deletionTimestamp");
  }

  /** How far the API server has come with the deletion of an object. */
  private static String deletion(JsonNode object) {
    if (!isBeingDeleted(object)) {
      return "somebody made it anew";
    }
    String said =
        JsonFields.list(object, "status", "conditions").stream()
            .filter(condition -> !SERVING.contains(JsonFields.text(condition, "type")))
            .filter(condition -> JsonFields.text(condition, "status").equals("True"))
            .map(condition -> JsonFields.text(condition, "message"))
            .collect(Collectors.joining("; "));
    return said.isEmpty() ? "the API server is deleting it" : said;
  }

  private static String storedVersion(JsonNode definition) {
    return JsonFields.list(definition, "spec", "versions").stream()
        .filter(version -> version.path("storage").asBoolean())
        .map(version -> JsonFields.text(version, "name"))
        .findFirst()
        .orElse(ApiVersions.V1BETA2);
  }

  /**
   * Whether objects may be stored in a version that the API server can't read without an operator,
   * not even to delete them.
   */
  private static boolean needsConversion(JsonNode definition, String stored) {
    return JsonFields.text(definition, "spec", "conversion", "strategy").equals("Webhook")
        && JsonFields.texts(definition, "status", "storedVersions").stream()
            .anyMatch(version -> !version.equals(stored));
  }

  /** What is deleted may lose fields. */
  private static ObjectNode noConversion() {
    ObjectNode patch = JsonNodeFactory.instance.objectNode();
    patch.putObject("spec").putObject("conversion").put("strategy", "None").putNull("webhook");
    return patch;
  }

  /**
   * Takes the finalizers of this API off all objects of a collection, and deletes the objects where
   * they are to go: page by page, the objects of a page at the same time. A finalizer of somebody
   * else is left alone. For one thread.
   */
  static final class FinalizerSweep {

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
     * Sweeps once. A page of which the API server refuses every change ends it: the same would
     * become of the next page.
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
}
