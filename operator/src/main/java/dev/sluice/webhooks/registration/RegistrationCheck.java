package dev.sluice.webhooks.registration;

import dev.sluice.api.config.Selector;
import dev.sluice.webhooks.kinds.Webhooks.PodGroupMembershipWebhook;
import dev.sluice.webhooks.kinds.Webhooks.PodsOfJobsWebhook;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorRequirement;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MatchCondition;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.RuleWithOperations;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Compares the webhook registrations of a cluster with those that a configuration needs. A kind
 * that is managed but not registered would start without being held: the API server asks nobody.
 */
public final class RegistrationCheck {

  private static final String FAIL = "Fail";

  private static final Set<String> WITHOUT_EFFECT =
      Set.of(WebhookConfigurations.NOT_THE_OPERATOR, WebhookConfigurations.MORE_THAN_ITS_END);

  /** Paths of webhooks about pods besides those that are jobs. */
  private static final List<String> OF_PODS =
      List.of(PodsOfJobsWebhook.PATH, PodGroupMembershipWebhook.PATH);

  private final Set<String> missing = new LinkedHashSet<>();
  private final Set<String> failingOpen = new LinkedHashSet<>();

  /**
   * What was found.
   *
   * @param missing what the cluster's registrations lack; empty if they are sufficient
   * @param failingOpen what they let through while no operator answers, although the configuration
   *     manages it
   */
  public record Result(List<String> missing, List<String> failingOpen) {}

  /** A webhook of either kind, and what it is asked about. */
  private record Hook(
      String path,
      String failurePolicy,
      @Nullable LabelSelector namespaces,
      @Nullable LabelSelector objects,
      Set<String> conditions,
      List<RuleWithOperations> rules) {

    /** The path of a webhook whose work no other one does; empty if this is none. */
    String own() {
      return OF_PODS.stream().filter(path::endsWith).findFirst().orElse("");
    }

    boolean isAskedAbout(String group, String version, String operation, String resource) {
      return rules.stream()
          .anyMatch(
              rule ->
                  has(rule.getApiGroups(), group)
                      && has(rule.getApiVersions(), version)
                      && has(rule.getOperations(), operation)
                      && (has(rule.getResources(), resource)
                          || rule.getResources().contains("*/*")));
    }

    private static boolean has(List<String> listed, String wanted) {
      return listed.contains(wanted) || listed.contains("*");
    }
  }

  private RegistrationCheck() {}

  /**
   * Compares.
   *
   * @param mutating the cluster's registration of this name; empty if there is none
   * @param validating the cluster's registration of this name; empty if there is none
   * @param needed what the configuration needs
   */
  public static Result compare(
      Optional<MutatingWebhookConfiguration> mutating,
      Optional<ValidatingWebhookConfiguration> validating,
      WebhookRegistration needed) {
    RegistrationCheck check = new RegistrationCheck();
    WebhookConfigurations configurations = new WebhookConfigurations(needed);
    check.compare(
        "MutatingWebhookConfiguration " + WebhookConfigurations.MUTATING,
        mutating.map(RegistrationCheck::hooks),
        hooks(configurations.mutating()));
    check.compare(
        "ValidatingWebhookConfiguration " + WebhookConfigurations.VALIDATING,
        validating.map(RegistrationCheck::hooks),
        hooks(configurations.validating()));
    return new Result(List.copyOf(check.missing), List.copyOf(check.failingOpen));
  }

  /**
   * The names of the entries that lead to the Service of these webhooks, by a path that none of
   * them has: the API server would be answered with 404, and refuse what the entry asks about.
   * Another operator of this API left them.
   *
   * @param targets where the entries of a registration lead, by their names
   * @param kinds the kinds that are answered about
   */
  public static List<String> unanswered(
      Map<String, WebhookClientConfig> targets,
      WebhookRegistration.Service service,
      WebhookRegistration.Kinds kinds) {
    Set<String> answered =
        Stream.concat(
                OF_PODS.stream(),
                kinds.all().stream()
                    .flatMap(kind -> Stream.of(kind.mutatingPath(), kind.validatingPath())))
            .collect(Collectors.toSet());
    return targets.entrySet().stream()
        .filter(
            entry -> {
              var named = entry.getValue().getService();
              return named != null
                  && service.name().equals(named.getName())
                  && service.namespace().equals(named.getNamespace())
                  && !answered.contains(String.valueOf(named.getPath()));
            })
        .map(Map.Entry::getKey)
        .sorted()
        .toList();
  }

  private void compare(String registration, Optional<List<Hook>> found, List<Hook> needed) {
    if (found.isEmpty()) {
      missing.add(registration + " does not exist");
      return;
    }
    for (Hook hook : needed) {
      for (RuleWithOperations rule : hook.rules()) {
        for (String operation : rule.getOperations()) {
          rule.getResources()
              .forEach(
                  resource -> compare(registration, found.get(), hook, rule, operation, resource));
        }
      }
    }
  }

  private void compare(
      String registration,
      List<Hook> found,
      Hook needed,
      RuleWithOperations rule,
      String operation,
      String resource) {
    String group = rule.getApiGroups().getFirst();
    String what = registration + " has no rule for " + operation + " of " + resource;
    List<Hook> asked =
        found.stream()
            .filter(it -> it.own().equals(needed.own()))
            .filter(
                it -> it.isAskedAbout(group, rule.getApiVersions().getFirst(), operation, resource))
            .toList();
    if (asked.isEmpty()) {
      missing.add(group.isEmpty() ? what : what + "." + group);
      return;
    }
    // Kinds of jobs alone have a namespace selector; conditions of the other kinds only save time.
    boolean job = needed.namespaces() != null;
    List<Hook> always =
        job
            ? asked.stream().filter(it -> needed.conditions().containsAll(it.conditions())).toList()
            : asked;
    if (always.isEmpty()) {
      missing.add(
          what
              + (needed.conditions().isEmpty()
                  ? " that name no queue, which manageJobsWithoutQueueName needs"
                  : " under the condition " + String.join(", ", needed.conditions())));
      return;
    }
    List<Hook> whole =
        always.stream().filter(it -> includes(it.objects(), needed.objects())).toList();
    if (whole.isEmpty()) {
      missing.add(what + " that asks about objects with any labels");
      return;
    }
    List<Hook> everywhere =
        whole.stream().filter(it -> includes(it.namespaces(), needed.namespaces())).toList();
    if (everywhere.isEmpty()) {
      missing.add(what + " in all namespaces that managedJobsNamespaceSelector selects");
    } else if (needed.failurePolicy().equals(FAIL)
        && everywhere.stream().noneMatch(it -> it.failurePolicy().equals(FAIL))) {
      failingOpen.add(operation + " of " + resource + " in " + registration);
    }
  }

  private static List<Hook> hooks(MutatingWebhookConfiguration configuration) {
    return configuration.getWebhooks().stream()
        .map(
            it ->
                new Hook(
                    path(it.getClientConfig()),
                    policy(it.getFailurePolicy()),
                    it.getNamespaceSelector(),
                    it.getObjectSelector(),
                    names(it.getMatchConditions()),
                    it.getRules()))
        .toList();
  }

  private static List<Hook> hooks(ValidatingWebhookConfiguration configuration) {
    return configuration.getWebhooks().stream()
        .map(
            it ->
                new Hook(
                    path(it.getClientConfig()),
                    policy(it.getFailurePolicy()),
                    it.getNamespaceSelector(),
                    it.getObjectSelector(),
                    names(it.getMatchConditions()),
                    it.getRules()))
        .toList();
  }

  private static String path(WebhookClientConfig config) {
    return config.getService() == null
        ? String.valueOf(config.getUrl())
        : String.valueOf(config.getService().getPath());
  }

  private static String policy(@Nullable String policy) {
    return policy == null ? FAIL : policy;
  }

  /**
   * Without the conditions about the operator's own writes and about the end of what was deleted,
   * which nothing that is held depends on.
   */
  private static Set<String> names(List<MatchCondition> conditions) {
    return conditions.stream()
        .map(MatchCondition::getName)
        .filter(name -> !WITHOUT_EFFECT.contains(name))
        .collect(Collectors.toSet());
  }

  /**
   * Whether {@code outer} selects whatever {@code inner} selects, as far as that can be seen from
   * their requirements one by one.
   */
  static boolean includes(@Nullable LabelSelector outer, @Nullable LabelSelector inner) {
    List<Selector.Requirement> inside = requirements(inner);
    return requirements(outer).stream()
        .allMatch(demand -> inside.stream().anyMatch(it -> implies(it, demand)));
  }

  private static boolean implies(Selector.Requirement given, Selector.Requirement demand) {
    if (!given.key().equals(demand.key())) {
      return false;
    }
    List<String> wanted = demand.values();
    return switch (given.operator()) {
      case IN ->
          switch (demand.operator()) {
            case IN -> wanted.containsAll(given.values());
            case NOT_IN -> given.values().stream().noneMatch(wanted::contains);
            case EXISTS -> true;
            case DOES_NOT_EXIST -> false;
          };
      case NOT_IN ->
          demand.operator() == Selector.Operator.NOT_IN && given.values().containsAll(wanted);
      case EXISTS -> demand.operator() == Selector.Operator.EXISTS;
      case DOES_NOT_EXIST ->
          demand.operator() == Selector.Operator.DOES_NOT_EXIST
              || demand.operator() == Selector.Operator.NOT_IN;
    };
  }

  private static List<Selector.Requirement> requirements(@Nullable LabelSelector selector) {
    if (selector == null) {
      return List.of();
    }
    List<Selector.Requirement> all = new ArrayList<>();
    Map<String, String> labels =
        selector.getMatchLabels() == null ? Map.of() : selector.getMatchLabels();
    labels.forEach(
        (key, value) ->
            all.add(new Selector.Requirement(key, Selector.Operator.IN, List.of(value))));
    for (LabelSelectorRequirement each : selector.getMatchExpressions()) {
      Stream.of(Selector.Operator.values())
          .filter(operator -> operator.text().equals(each.getOperator()))
          .forEach(
              operator ->
                  all.add(
                      new Selector.Requirement(
                          each.getKey(),
                          operator,
                          each.getValues() == null ? List.of() : each.getValues())));
    }
    return all;
  }
}
