package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.sluice.kubequeue.ElasticQuotaReader.QuotaObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Reads ResourceQuotas: each is a queue of its own. Never throws for what it reads. */
final class ResourceQuotaReader {

  /** The kind of these quotas. */
  static final String KIND = "ResourceQuota";

  private static final String REQUESTS = "requests.";

  /** Resources of pods whose names have no domain. */
  private static final Set<String> PLAIN = Set.of("cpu", "memory", "ephemeral-storage", "pods");

  private ResourceQuotaReader() {}

  /**
   * The quota of a namespace: the one that has the name of its Queue, or the only one. One that is
   * about some of the pods only doesn't count.
   *
   * @param quotas of the namespace
   * @param queues the names of the Queues in the namespace, of which there is at least one
   */
  static Optional<QuotaObject> chosen(List<QuotaObject> quotas, Set<String> queues) {
    List<QuotaObject> whole = quotas.stream().filter(each -> !isScoped(each.spec())).toList();
    Optional<QuotaObject> named =
        whole.stream().filter(each -> queues.contains(each.source().name())).findFirst();
    return named.isPresent() || whole.size() != 1 ? named : Optional.of(whole.getFirst());
  }

  private static boolean isScoped(JsonNode spec) {
    return !spec.path("scopes").isEmpty() || !spec.path("scopeSelector").isEmpty();
  }

  /** The tree of one quota. */
  static QuotaReading read(QuotaObject object) {
    List<String> faults = new ArrayList<>();
    AmountReader reader = new AmountReader(faults);
    Map<String, Long> hard = new TreeMap<>();
    for (var entry : object.spec().path("hard").properties()) {
      resource(entry.getKey())
          .<JsonNode>map(name -> JsonNodeFactory.instance.objectNode().set(name, entry.getValue()))
          .map(one -> reader.amounts(one, "hard"))
          .ifPresent(one -> one.forEach((name, amount) -> hard.merge(name, amount, Math::min)));
    }
    QuotaSource source = object.source();
    String path = source.namespace() + "/" + source.name();
    QuotaDeclaration quota =
        new QuotaDeclaration(
            source,
            source.namespace() + "-" + source.name(),
            path,
            List.of(source.namespace()),
            hard,
            hard,
            Map.of(),
            false,
            List.of());
    return QuotaReading.of(new QuotaTree(quota, false), faults, List.of());
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
