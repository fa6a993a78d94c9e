package dev.sluice.workload.record;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.TextLimits;
import dev.sluice.core.model.LabelSelector.LabelRequirement;
import dev.sluice.core.model.LabelSelector.LabelRequirement.Operator;
import dev.sluice.core.model.MapCopies;
import dev.sluice.core.model.NodeConstraints;
import dev.sluice.core.model.NodeConstraints.PreferredNodes;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.Toleration;
import dev.sluice.workload.record.NamespaceLimits.ItemRules;
import dev.sluice.workload.record.PodTemplate.Claim;
import dev.sluice.workload.record.PodTemplate.Container;
import dev.sluice.workload.record.PodTemplate.ResourceNeeds;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Parses pod templates: the parts that quota, limits and placement depend on, and the fingerprint.
 */
public final class PodTemplateParser {

  /** The requirements of a term of node affinity on labels. */
  private static final String EXPRESSIONS = "matchExpressions";

  /** The requirements of a term of node affinity on fields of the node. */
  private static final String FIELDS = "matchFields";

  /** Each term, requirement and toleration may be compared with each node. */
  private static final int MOST_REQUIREMENTS = 1_000;

  /** Each value of a requirement, too; a list of nodes is long. */
  private static final int MOST_VALUES = 10_000;

  private static final int MOST_PROBLEMS = 20;
  private static final int MOST_SHOWN = 128;

  private final List<String> problems = new ArrayList<>();
  private int further;

  private PodTemplateParser() {}

  /** Parses a pod template, given as JSON with {@code metadata} and {@code spec}. */
  public static PodTemplate of(JsonNode template) {
    return new PodTemplateParser().read(template.path("spec"));
  }

  /**
   * What a pod of the API server requests, by resource: limits and defaults are in its requests
   * already. Invalid quantities count as none.
   *
   * @param as what each container is counted as
   */
  public static SortedMap<String, Long> requests(JsonNode podSpec, UnaryOperator<Container> as) {
    PodTemplateParser parser = new PodTemplateParser();
    List<Container> containers = parser.containers("containers", podSpec.path("containers"));
    List<Container> first = parser.containers("initContainers", podSpec.path("initContainers"));
    return PodRequests.ofPod(
            containers.stream().map(as).toList(),
            first.stream().map(as).toList(),
            parser.needs("resources", podSpec.path("resources")),
            parser.amounts("overhead", podSpec.path("overhead")))
        .perPod();
  }

  /** Amounts of resources, as a status tells them. Invalid quantities count as none. */
  public static Map<String, Long> amounts(JsonNode quantities) {
    return new PodTemplateParser().amounts("", quantities);
  }

  private PodTemplate read(JsonNode spec) {
    PodTemplateHash fingerprint = PodTemplateHash.of(spec);
    return new PodTemplate(
        containers("containers", spec.path("containers")),
        containers("initContainers", spec.path("initContainers")),
        needs("resources", spec.path("resources")),
        amounts("overhead", spec.path("overhead")),
        spec.path("runtimeClassName").asText(""),
        placement(spec),
        fingerprint.full(),
        fingerprint.withoutTolerations(),
        resourceClaims(spec),
        problems());
  }

  /** What is wrong with a template, however much that is: the first problems, and a count. */
  private List<String> problems() {
    if (further > 0) {
      problems.add("and " + further + (further == 1 ? " more problem" : " more problems"));
    }
    return List.copyOf(problems);
  }

  private void problem(String text) {
    if (problems.size() < MOST_PROBLEMS) {
      problems.add(text);
    } else {
      further++;
    }
  }

  private List<Container> containers(String field, JsonNode containers) {
    List<Container> result = new ArrayList<>(containers.size());
    for (JsonNode container : containers) {
      String name = container.path("name").asText("");
      result.add(
          new Container(
              name,
              needs(
                  field + "[" + TextLimits.shown(name, MOST_SHOWN) + "].resources",
                  container.path("resources")),
              container.path("restartPolicy").asText("").equals("Always")));
    }
    return List.copyOf(result);
  }

  /** The claims of a pod, given as its {@code spec}: those that it declares or only uses. */
  public static List<Claim> resourceClaims(JsonNode spec) {
    List<Claim> claims = new ArrayList<>(0);
    SortedSet<String> used = new TreeSet<>();
    addNames(spec.path("resources").path("claims"), used);
    for (String field : List.of("containers", "initContainers")) {
      for (JsonNode container : spec.path(field)) {
        addNames(container.path("resources").path("claims"), used);
      }
    }
    for (JsonNode claim : spec.path("resourceClaims")) {
      String name = claim.path("name").asText("");
      used.remove(name);
      claims.add(
          new Claim(
              name,
              claim.path("resourceClaimTemplateName").asText(""),
              claim.path("resourceClaimName").asText("")));
    }
    used.forEach(name -> claims.add(new Claim(name, "", "")));
    claims.sort(Comparator.comparing(Claim::name));
    return List.copyOf(claims);
  }

  private static void addNames(JsonNode claims, SortedSet<String> names) {
    claims.forEach(claim -> names.add(claim.path("name").asText("")));
  }

  private ResourceNeeds needs(String field, JsonNode resources) {
    return new ResourceNeeds(
        amounts(field + ".requests", resources.path("requests")),
        amounts(field + ".limits", resources.path("limits")));
  }

  private Map<String, Long> amounts(String field, JsonNode quantities) {
    Map<String, Long> result = new HashMap<>();
    for (Map.Entry<String, JsonNode> entry : quantities.properties()) {
      try {
        result.put(entry.getKey(), Quantities.amount(entry.getKey(), entry.getValue().asText("")));
      } catch (IllegalArgumentException e) {
        String resource = TextLimits.shown(entry.getKey(), MOST_SHOWN);
        problem("spec." + field + "." + resource + ": " + e.getMessage());
      }
    }
    return MapCopies.of(result);
  }

  private NodeConstraints placement(JsonNode spec) {
    Map<String, String> nodeSelector = new HashMap<>();
    spec.path("nodeSelector")
        .properties()
        .forEach(label -> nodeSelector.put(label.getKey(), label.getValue().asText("")));
    List<List<LabelRequirement>> terms = affinity(spec, EXPRESSIONS);
    List<Toleration> tolerations = tolerations(spec.path("tolerations"));
    List<PreferredNodes> preferred = preferredNodes(spec);
    if (nodeSelector.isEmpty() && terms.isEmpty() && tolerations.isEmpty() && preferred.isEmpty()) {
      return NodeConstraints.ANYWHERE;
    }
    NodeConstraints constraints =
        new NodeConstraints(nodeSelector, terms, affinity(spec, FIELDS), tolerations, preferred);
    bound(constraints);
    return constraints;
  }

  /** Whoever writes a template says how often nodes are looked at for it. */
  private void bound(NodeConstraints constraints) {
    List<LabelRequirement> requirements =
        Stream.of(
                constraints.affinityTerms().stream(),
                constraints.affinityFields().stream(),
                constraints.preferred().stream().map(PreferredNodes::requirements))
            .flatMap(lists -> lists)
            .flatMap(List::stream)
            .toList();
    int count =
        constraints.nodeSelector().size()
            + constraints.affinityTerms().size()
            + constraints.tolerations().size()
            + constraints.preferred().size()
            + requirements.size();
    int values = requirements.stream().mapToInt(each -> each.values().size()).sum();
    if (count > MOST_REQUIREMENTS) {
      problem(
          "spec: it has %d labels, terms, requirements and tolerations of nodes, at most %d are allowed"
              .formatted(count, MOST_REQUIREMENTS));
    }
    if (values > MOST_VALUES) {
      problem(
          "spec.affinity.nodeAffinity: its requirements have %d values, at most %d are allowed"
              .formatted(values, MOST_VALUES));
    }
  }

  private List<PreferredNodes> preferredNodes(JsonNode spec) {
    List<PreferredNodes> result = new ArrayList<>(0);
    for (JsonNode preference :
        spec.path("affinity")
            .path("nodeAffinity")
            .path("preferredDuringSchedulingIgnoredDuringExecution")) {
      result.add(
          new PreferredNodes(
              preference.path("weight").asInt(),
              requirements(preference.path("preference"), EXPRESSIONS)));
    }
    return result;
  }

  /** What each term of the required node affinity says in this list of requirements. */
  private List<List<LabelRequirement>> affinity(JsonNode spec, String list) {
    JsonNode terms =
        spec.path("affinity")
            .path("nodeAffinity")
            .path("requiredDuringSchedulingIgnoredDuringExecution")
            .path("nodeSelectorTerms");
    List<List<LabelRequirement>> result = new ArrayList<>(terms.size());
    for (JsonNode term : terms) {
      result.add(requirements(term, list));
    }
    return result;
  }

  private List<LabelRequirement> requirements(JsonNode term, String list) {
    List<LabelRequirement> requirements = new ArrayList<>();
    for (JsonNode expression : term.path(list)) {
      operator(expression.path("operator").asText(""))
          .ifPresent(
              operator ->
                  requirements.add(
                      new LabelRequirement(
                          expression.path("key").asText(""),
                          operator,
                          texts(expression.path("values")))));
    }
    return requirements;
  }

  private Optional<Operator> operator(String word) {
    switch (word) {
      case "In":
        return Optional.of(Operator.IN);
      case "NotIn":
        return Optional.of(Operator.NOT_IN);
      case "Exists":
        return Optional.of(Operator.EXISTS);
      case "DoesNotExist":
        return Optional.of(Operator.DOES_NOT_EXIST);
      case "Gt":
        return Optional.of(Operator.GT);
      case "Lt":
        return Optional.of(Operator.LT);
      default:
        problem(
            "spec.affinity.nodeAffinity: operator \"%s\" is none of In, NotIn, Exists, DoesNotExist, Gt, Lt"
                .formatted(TextLimits.shown(word, MOST_SHOWN)));
        return Optional.empty();
    }
  }

  private static List<String> texts(JsonNode values) {
    List<String> result = new ArrayList<>(values.size());
    values.forEach(value -> result.add(value.asText("")));
    return result;
  }

  private static List<Toleration> tolerations(JsonNode tolerations) {
    List<Toleration> result = new ArrayList<>(tolerations.size());
    for (JsonNode toleration : tolerations) {
      result.add(
          new Toleration(
              toleration.path("key").asText(""),
              toleration.path("operator").asText(""),
              toleration.path("value").asText(""),
              toleration.path("effect").asText(""),
              toleration.hasNonNull("tolerationSeconds")));
    }
    return result;
  }

  /**
   * Applies the defaults of LimitRanges and RuntimeClass to a pod template, and uses limits for
   * absent requests (docs/scheduling-semantics.md#what-is-pending).
   */
  public static final class PodRequests {

    private final List<Container> containers;
    private final List<Container> initContainers;
    private final ResourceNeeds podLevel;
    private final Map<String, Long> overhead;

    private PodRequests(
        List<Container> containers,
        List<Container> initContainers,
        ResourceNeeds podLevel,
        Map<String, Long> overhead) {
      this.containers = containers;
      this.initContainers = initContainers;
      this.podLevel = podLevel;
      this.overhead = overhead;
    }

    /** Uses the limits of the namespace and the known RuntimeClasses. */
    public static PodRequests of(
        PodTemplate template, NamespaceLimits rules, ResourceContext context) {
      boolean ownOverhead = !template.overhead().isEmpty() || template.runtimeClassName().isEmpty();
      ResourceNeeds podLevel = template.podLevel();
      boolean hasPodLevel = !podLevel.requests().isEmpty() || !podLevel.limits().isEmpty();
      return new PodRequests(
          defaulted(template.containers(), rules.container()),
          defaulted(template.initContainers(), rules.container()),
          hasPodLevel ? defaulted(podLevel, rules.pod()) : podLevel,
          ownOverhead ? template.overhead() : context.overhead(template.runtimeClassName()));
    }

    /** The requests of a pod that has its defaults. */
    static PodRequests ofPod(
        List<Container> containers,
        List<Container> initContainers,
        ResourceNeeds podLevel,
        Map<String, Long> overhead) {
      return new PodRequests(containers, initContainers, podLevel, overhead);
    }

    private static List<Container> defaulted(List<Container> containers, ItemRules rules) {
      List<Container> result = new ArrayList<>(containers.size());
      for (Container container : containers) {
        ResourceNeeds needs = defaulted(container.resources(), rules);
        result.add(new Container(container.name(), needs, container.restartable()));
      }
      return result;
    }

    /**
     * Own limits stand in for absent requests before a LimitRange is asked, as the API server does
     * it: a default request would charge less than the pod is going to request.
     */
    private static ResourceNeeds defaulted(ResourceNeeds needs, ItemRules rules) {
      Map<String, Long> limits = filled(needs.limits(), rules.defaultLimit());
      Map<String, Long> requests =
          filled(filled(needs.requests(), needs.limits()), rules.defaultRequest());
      return new ResourceNeeds(filled(requests, limits), limits);
    }

    private static Map<String, Long> filled(Map<String, Long> amounts, Map<String, Long> missing) {
      if (missing.isEmpty()) {
        return amounts;
      }
      Map<String, Long> result = new HashMap<>(missing);
      result.putAll(amounts);
      return result;
    }

    /** The containers, in the order of the template. */
    public List<Container> containers() {
      return containers;
    }

    /** The init containers, in the order in which they run. */
    public List<Container> initContainers() {
      return initContainers;
    }

    /** What the pod as a whole needs, where the template says it. */
    public ResourceNeeds podLevel() {
      return podLevel;
    }

    /**
     * The request of one pod, by the rules of Kubernetes: the sum of containers and sidecars, or
     * the largest sum of an init container and the sidecars started before it; pod-level amounts
     * count where they are larger; overhead is added. Negative amounts count as 0.
     */
    public SortedMap<String, Long> perPod() {
      SortedMap<String, Long> total = requests();
      addAll(total, overhead);
      return total;
    }

    /**
     * The requests and limits of one pod without overhead, as the API server compares them with
     * LimitRanges of type Pod. Limits add up as requests do; those of the pod as a whole replace
     * the sum.
     */
    public ResourceNeeds whole() {
      SortedMap<String, Long> limits = total(ResourceNeeds::limits);
      limits.putAll(podLevel.limits());
      return new ResourceNeeds(requests(), limits);
    }

    private SortedMap<String, Long> requests() {
      SortedMap<String, Long> total = total(ResourceNeeds::requests);
      podLevel
          .requests()
          .forEach((resource, amount) -> total.merge(resource, Math.max(0, amount), Math::max));
      return total;
    }

    private SortedMap<String, Long> total(Function<ResourceNeeds, Map<String, Long>> amounts) {
      SortedMap<String, Long> total = new TreeMap<>();
      containers.forEach(container -> addAll(total, amounts.apply(container.resources())));
      SortedMap<String, Long> sidecars = new TreeMap<>();
      SortedMap<String, Long> starting = new TreeMap<>();
      for (Container container : initContainers) {
        SortedMap<String, Long> atOnce = new TreeMap<>(sidecars);
        addAll(atOnce, amounts.apply(container.resources()));
        if (container.restartable()) {
          sidecars = atOnce;
        }
        atOnce.forEach((resource, amount) -> starting.merge(resource, amount, Math::max));
      }
      addAll(total, sidecars);
      starting.forEach((resource, amount) -> total.merge(resource, amount, Math::max));
      return total;
    }

    private static void addAll(Map<String, Long> total, Map<String, Long> amounts) {
      amounts.forEach(
          (resource, amount) -> total.merge(resource, Math.max(0, amount), ResourceAmounts::add));
    }
  }
}
