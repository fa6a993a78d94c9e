package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kubequeue.ElasticQuotaReader.AmountReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads an ElasticQuotaTree. Never throws for what it reads. */
public final class QuotaTreeReader {

  /** The kind in which quotas of trees are declared. */
  public static final String KIND = "ElasticQuotaTree";

  private static final String LEND_LIMIT = "alibabacloud.com/lendlimit";

  /** How many quotas may be on the way from the root to a quota, both included. */
  static final int DEEPEST = 64;

  private final QuotaSource source;
  private final List<String> faults = new ArrayList<>();
  private final List<String> unsupported = new ArrayList<>();
  private final AmountReader amounts = new AmountReader(faults);
  private final Set<String> names = new HashSet<>();
  private final Map<String, String> namespaces = new HashMap<>();

  private QuotaTreeReader(QuotaSource source) {
    this.source = source;
  }

  /** Reads the object of this source. */
  public static QuotaReading read(QuotaSource source, JsonNode object) {
    return new QuotaTreeReader(source).read(object.path("spec").path("root"));
  }

  private QuotaReading read(JsonNode node) {
    if (!node.path("name").asText("root").equals("root")) {
      faults.add("the root's name is \"%s\", not root".formatted(node.path("name").asText()));
    }
    QuotaDeclaration root = quota(node, "root", "root", 1);
    return QuotaReading.of(new QuotaTree(root, true), faults, unsupported);
  }

  private QuotaDeclaration quota(JsonNode node, String name, String path, int depth) {
    if (!names.add(name)) {
      faults.add("%s: the name %s is there twice".formatted(path, name));
    }
    List<QuotaDeclaration> children = children(node.path("children"), path, depth);
    return new QuotaDeclaration(
        source,
        name,
        path,
        namespaces(node.path("namespaces"), path, children.isEmpty()),
        amounts.amounts(node.path("min"), path + ": min"),
        amounts.amounts(node.path("max"), path + ": max"),
        attributes(node.path("attributes"), path),
        !children.isEmpty(),
        children);
  }

  private List<QuotaDeclaration> children(JsonNode list, String path, int depth) {
    List<QuotaDeclaration> children = new ArrayList<>();
    if (!list.isEmpty() && depth >= DEEPEST) {
      faults.add("%s: the tree is deeper than %d".formatted(path, DEEPEST));
      return children;
    }
    for (JsonNode child : list) {
      String name = child.path("name").asText();
      if (name.isEmpty() || name.indexOf('/') >= 0) {
        faults.add("%s: \"%s\" can't be the name of a quota".formatted(path, name));
      } else {
        children.add(quota(child, name, path + "/" + name, depth + 1));
      }
    }
    return children;
  }

  private List<String> namespaces(JsonNode list, String path, boolean leaf) {
    List<String> result = new ArrayList<>();
    for (JsonNode each : list) {
      String namespace = each.asText();
      String other = namespaces.putIfAbsent(namespace, path);
      if (!leaf) {
        faults.add("%s: it has children, so that it can't have namespaces".formatted(path));
      } else if (!KubernetesNames.isDnsLabel(namespace)) {
        faults.add("%s: \"%s\" is no namespace".formatted(path, namespace));
      } else if (other != null && !other.equals(path)) {
        faults.add("%s: the namespace %s belongs to %s".formatted(path, namespace, other));
      } else if (other == null) {
        result.add(namespace);
      }
    }
    return result;
  }

  private Map<String, Long> attributes(JsonNode attributes, String path) {
    Map<String, Long> lendLimit = Map.of();
    for (var attribute : attributes.properties()) {
      if (attribute.getKey().equals(LEND_LIMIT)) {
        lendLimit = lendLimit(attribute.getValue().asText(), path + ": " + LEND_LIMIT);
      } else {
        unsupported.add("%s: the attribute %s".formatted(path, attribute.getKey()));
      }
    }
    return lendLimit;
  }

  private Map<String, Long> lendLimit(String text, String where) {
    try {
      return amounts.amounts(JsonMappers.JSON.readTree(text), where);
    } catch (IOException e) {
      faults.add(where + " is not JSON");
      return Map.of();
    }
  }
}
