package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.sluice.api.KubeQueueKeys;
import dev.sluice.kubequeue.ElasticQuotaReader.AmountReader;
import dev.sluice.kubequeue.ElasticQuotaReader.QuotaObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Reads ResourceQuotas, namespace by namespace. Never throws for what it reads. */
final class ResourceQuotaReader {

  /** The kind of these quotas. */
  static final String KIND = "ResourceQuota";

  private static final String REQUESTS = "requests.";

  /** Resources of pods whose names have no domain. */
  private static final Set<String> PLAIN = Set.of("cpu", "memory", "ephemeral-storage", "pods");

  private ResourceQuotaReader() {}

  /**
   * The quotas of a namespace that are queues: those that the annotation makes one or that have the
   * name of a Queue; with {@code plain} all; and where there are Queues, the only quota that is
   * about all pods. The annotation may keep any of them out.
   *
   * @param quotas of the namespace
   * @param queues the names of the Queues in the namespace
   * @param plain whether ResourceQuotas are queues without being asked for
   */
  static Chosen chosen(List<QuotaObject> quotas, Set<String> queues, boolean plain) {
    List<QuotaObject> sorted =
        quotas.stream()
            .filter(each -> !isOut(each))
            .sorted(Comparator.comparing(each -> each.source().name()))
            .toList();
    List<QuotaObject> whole = new ArrayList<>();
    List<QuotaObject> scoped = new ArrayList<>();
    Map<QuotaSource, String> notes = new LinkedHashMap<>();
    for (QuotaObject each : sorted) {
      if (!plain && !isIn(each) && !queues.contains(each.source().name())) {
        continue;
      }
      Optional<PodScopes> scopes = PodScopes.of(each.spec());
      if (scopes.isEmpty()) {
        notes.put(each.source(), "it is no queue: its scopes are not about pods");
      } else {
        (scopes.get().equals(PodScopes.ALL) ? whole : scoped).add(each);
      }
    }
    if (whole.isEmpty() && !queues.isEmpty()) {
      List<QuotaObject> all =
          sorted.stream()
              .filter(each -> PodScopes.of(each.spec()).equals(Optional.of(PodScopes.ALL)))
              .toList();
      whole.addAll(all.size() == 1 ? all : List.of());
    }
    Optional<QuotaObject> first =
        whole.stream().min(Comparator.comparing(each -> !queues.contains(each.source().name())));
    whole.stream()
        .filter(each -> !each.equals(first.orElse(null)))
        .forEach(
            each ->
                notes.put(
                    each.source(),
                    "it is ignored: the queue of the namespace is made from %s"
                        .formatted(first.orElseThrow().source().name())));
    return new Chosen(first, scoped, notes);
  }

  private static boolean isIn(QuotaObject quota) {
    return "true".equals(quota.annotations().get(KubeQueueKeys.QUEUE));
  }

  private static boolean isOut(QuotaObject quota) {
    return "false".equals(quota.annotations().get(KubeQueueKeys.QUEUE));
  }

  /**
   * The quotas of a namespace that are queues.
   *
   * @param whole the one that is about all pods
   * @param scoped those that are about some
   * @param notes why others are none, which were asked for
   */
  record Chosen(
      Optional<QuotaObject> whole, List<QuotaObject> scoped, Map<QuotaSource, String> notes) {

    /** All that are queues. */
    List<QuotaObject> all() {
      return Stream.concat(whole.stream(), scoped.stream()).toList();
    }
  }

  /**
   * The trees of a namespace's quotas: the one that is about all pods has the others below it, as
   * their pods count in it, too; without it each is a tree of its own.
   *
   * @param faults what is wrong, by quota
   */
  static List<QuotaTree> read(Chosen chosen, Map<QuotaSource, List<String>> faults) {
    List<QuotaDeclaration> below = new ArrayList<>();
    String above = chosen.whole().map(each -> path(each.source()) + "/").orElse("");
    for (QuotaObject each : chosen.scoped()) {
      String path = above.isEmpty() ? path(each.source()) : above + each.source().name();
      below.add(declaration(each, path, !above.isEmpty(), List.of(), faults));
    }
    List<QuotaDeclaration> roots =
        chosen
            .whole()
            .map(each -> List.of(declaration(each, path(each.source()), false, below, faults)))
            .orElse(below);
    List<QuotaTree> trees = new ArrayList<>();
    for (QuotaDeclaration root : roots) {
      QuotaReading reading = QuotaReading.of(new QuotaTree(root, false), List.of(), List.of());
      reading.tree().ifPresent(trees::add);
      if (!reading.faults().isEmpty()) {
        faults.computeIfAbsent(root.source(), any -> new ArrayList<>()).addAll(reading.faults());
      }
    }
    return trees;
  }

  private static String path(QuotaSource source) {
    return source.namespace() + "/" + source.name();
  }

  /**
   * One quota.
   *
   * @param shares whether it only limits what it uses of the quota above it
   * @param below the quotas that share it
   */
  private static QuotaDeclaration declaration(
      QuotaObject object,
      String path,
      boolean shares,
      List<QuotaDeclaration> below,
      Map<QuotaSource, List<String>> faults) {
    List<String> wrong = new ArrayList<>();
    AmountReader reader = new AmountReader(wrong);
    Map<String, Long> hard = new TreeMap<>();
    for (var entry : object.spec().path("hard").properties()) {
      resource(entry.getKey())
          .<JsonNode>map(name -> JsonNodeFactory.instance.objectNode().set(name, entry.getValue()))
          .map(one -> reader.amounts(one, "hard"))
          .ifPresent(one -> one.forEach((name, amount) -> hard.merge(name, amount, Math::min)));
    }
    QuotaSource source = object.source();
    if (!wrong.isEmpty()) {
      faults.computeIfAbsent(source, any -> new ArrayList<>()).addAll(wrong);
    }
    return new QuotaDeclaration(
        source,
        source.namespace() + "-" + source.name(),
        path,
        List.of(source.namespace()),
        shares || !below.isEmpty() ? Map.of() : hard,
        hard,
        Map.of(),
        !below.isEmpty(),
        below);
  }

  /** The resource of pods that an entry is about; empty if it is about something else. */
  private static Optional<String> resource(String name) {
    String plain = name.startsWith(REQUESTS) ? name.substring(REQUESTS.length()) : name;
    boolean counts =
        PLAIN.contains(plain)
            || plain.startsWith("hugepages-")
            || (plain.indexOf('/') >= 0
                && !plain.startsWith("count/")
                && !plain.contains(".storageclass.storage.k8s.io/"));
    return counts ? Optional.of(plain) : Optional.empty();
  }
}
