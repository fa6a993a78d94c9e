package dev.sluice.install;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.webhooks.registration.RegistrationCheck;
import dev.sluice.webhooks.registration.WebhookRegistration;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.HttpURLConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the webhook registrations of the cluster with those that the configuration needs, and
 * puts them back where something is missing: they were deleted, were changed, or were merged with
 * those of another operator. What suffices is left as it is, whatever else it says.
 */
public final class RegistrationRepair {

  private static final Logger LOG = LoggerFactory.getLogger(RegistrationRepair.class);
  private static final PatchContext JSON_PATCH = PatchContext.of(PatchType.JSON);
  private static final String AUTHORITY = "caBundle";
  private static final String POLICY = "reinvocationPolicy";

  private final KubernetesClient client;
  private final WebhookRegistration wanted;
  private final Optional<Runnable> allowed;
  private final RegistrationTrust trust;

  /**
   * A repair that has looked at nothing yet, and leaves trust to the operator.
   *
   * @param wanted what is put back
   * @param allowed called before each write, throws when none may be sent now; empty if faults are
   *     told and nothing is written
   */
  public RegistrationRepair(
      KubernetesClient client, WebhookRegistration wanted, Optional<Runnable> allowed) {
    this(client, wanted, allowed, Optional.empty());
  }

  /**
   * The same, where somebody else may have to publish the authority of the certificate.
   *
   * @param shown the certificate that the webhooks show now, of which the registrations have to
   *     name the authority; empty where the operator sees to that itself
   */
  public RegistrationRepair(
      KubernetesClient client,
      WebhookRegistration wanted,
      Optional<Runnable> allowed,
      Optional<Supplier<Optional<CertificateWithKey>>> shown) {
    this.client = client;
    this.wanted = wanted;
    this.allowed = allowed;
    this.trust = new RegistrationTrust(shown);
  }

  /**
   * What a look found.
   *
   * @param missing what the registrations lacked, trust included
   * @param unanswered entries that lead to the operator and that it doesn't answer
   * @param absent whether one of the two registrations didn't exist
   * @param repaired whether all of that was put right
   */
  public record Finding(
      List<String> missing, List<String> unanswered, boolean absent, boolean repaired) {

    /** Whether something is wrong now. */
    public boolean isFault() {
      return !repaired && !(missing.isEmpty() && unanswered.isEmpty());
    }

    private Finding with(Stream<Optional<String>> faults) {
      return new Finding(
          Stream.concat(missing.stream(), faults.flatMap(Optional::stream)).toList(),
          unanswered,
          absent,
          repaired);
    }

    /** What was found, for people, in one line. */
    public String text() {
      List<String> all = new ArrayList<>(missing);
      unanswered.forEach(name -> all.add("entry " + name + " is of another operator"));
      return String.join("; ", all);
    }
  }

  /**
   * Looks, and repairs what it may. Of trust it puts back what it has seen, and tells what is
   * wrong: the authority is for somebody else to write. Not to be called by two threads at once.
   *
   * @throws KubernetesClientException if the API server can't be asked, or refuses
   * @throws RuntimeException if nothing may be written now
   */
  public Finding look() {
    var registrations = client.admissionRegistration().v1();
    List<HasMetadata> objects = InstallManifests.webhooks(wanted);
    Optional<MutatingWebhookConfiguration> mutating =
        Optional.ofNullable(
            registrations
                .mutatingWebhookConfigurations()
                .withName(objects.getFirst().getMetadata().getName())
                .get());
    Optional<ValidatingWebhookConfiguration> validating =
        Optional.ofNullable(
            registrations
                .validatingWebhookConfigurations()
                .withName(objects.getLast().getMetadata().getName())
                .get());
    mutating.ifPresent(trust::remember);
    validating.ifPresent(trust::remember);
    Finding finding = finding(mutating, validating);
    if (!finding.isFault() || allowed.isEmpty()) {
      return finding.with(
          Stream.of(mutating, validating).flatMap(Optional::stream).map(trust::fault));
    }
    allowed.get().run();
    putBack(objects.getFirst(), mutating);
    putBack(objects.getLast(), validating);
    LOG.warn("registrations repaired=true reason=\"{}\"", finding.text());
    return new Finding(finding.missing(), finding.unanswered(), finding.absent(), true);
  }

  /** Compares registrations that were read already, and writes nothing. */
  Finding finding(
      Optional<MutatingWebhookConfiguration> mutating,
      Optional<ValidatingWebhookConfiguration> validating) {
    List<String> unanswered = new ArrayList<>();
    if (wanted.target() instanceof WebhookRegistration.Service service) {
      mutating.ifPresent(
          it ->
              unanswered.addAll(
                  RegistrationCheck.unanswered(targetsOf(it), service, wanted.kinds())));
      validating.ifPresent(
          it ->
              unanswered.addAll(
                  RegistrationCheck.unanswered(targetsOf(it), service, wanted.kinds())));
    }
    return new Finding(
        RegistrationCheck.compare(mutating, validating, wanted).missing(),
        List.copyOf(unanswered),
        mutating.isEmpty() || validating.isEmpty(),
        false);
  }

  private static Map<String, WebhookClientConfig> targetsOf(MutatingWebhookConfiguration found) {
    return found.getWebhooks().stream()
        .collect(Collectors.toMap(it -> it.getName(), it -> it.getClientConfig()));
  }

  private static Map<String, WebhookClientConfig> targetsOf(ValidatingWebhookConfiguration found) {
    return found.getWebhooks().stream()
        .collect(Collectors.toMap(it -> it.getName(), it -> it.getClientConfig()));
  }

  /** Whoever was faster has put the same back: the next look tells. */
  private void putBack(HasMetadata whole, Optional<? extends HasMetadata> found) {
    try {
      if (found.isEmpty()) {
        trust.restore(whole);
        client.resource(whole).create();
      } else {
        client
            .resource(whole)
            .patch(JSON_PATCH, replacement(tree(whole), tree(found.get())).toString());
      }
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
        throw e;
      }
    }
  }

  private JsonNode tree(HasMetadata object) {
    return JsonMappers.JSON.valueToTree(object);
  }

  /** All entries anew; the authority that was trusted, and what the chart's user chose, stay. */
  private static ArrayNode replacement(JsonNode whole, JsonNode found) {
    for (JsonNode entry : whole.path("webhooks")) {
      for (JsonNode before : found.path("webhooks")) {
        String authority = before.path("clientConfig").path(AUTHORITY).asText();
        if (!authority.isEmpty()) {
          ((ObjectNode) entry.path("clientConfig")).put(AUTHORITY, authority);
        }
        if (before.path("name").equals(entry.path("name")) && before.has(POLICY)) {
          ((ObjectNode) entry).set(POLICY, before.path(POLICY));
        }
      }
    }
    ArrayNode patch = JsonMappers.JSON.createArrayNode();
    patch
        .addObject()
        .put("op", "test")
        .put("path", "/metadata/resourceVersion")
        .put("value", found.path("metadata").path("resourceVersion").asText());
    ObjectNode all = patch.addObject().put("op", "add").put("path", "/webhooks");
    all.set("value", whole.path("webhooks"));
    return patch;
  }
}
