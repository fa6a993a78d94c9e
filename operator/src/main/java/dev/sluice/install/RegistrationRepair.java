package dev.sluice.install;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.kube.certificates.Pem;
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
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
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

  /**
   * What the webhook registrations say about trust besides their rules: the authority in {@code
   * caBundle}, and the annotations by which others know that they are to write it. Remembers both,
   * so that a registration that is made anew has them. Not thread-safe.
   */
  private static final class RegistrationTrust {

    private static final String LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

    private final Optional<Supplier<Optional<CertificateWithKey>>> shown;
    private final Map<String, Seen> seen = new HashMap<>();

    private record Seen(Map<String, String> annotations, String authority) {}

    /**
     * Nothing was seen yet.
     *
     * @param shown the certificate that the webhooks show now, where somebody else has to publish
     *     its authority; empty where the operator publishes it and nothing is judged here
     */
    RegistrationTrust(Optional<Supplier<Optional<CertificateWithKey>>> shown) {
      this.shown = shown;
    }

    /** Keeps what a registration that is there says. */
    void remember(HasMetadata registration) {
      Map<String, String> annotations = new HashMap<>();
      if (registration.getMetadata().getAnnotations() != null) {
        annotations.putAll(registration.getMetadata().getAnnotations());
      }
      annotations.remove(LAST_APPLIED);
      String authority =
          targets(registration)
              .map(RegistrationTrust::authority)
              .filter(Predicate.not(String::isEmpty))
              .findFirst()
              .orElse("");
      Seen before = seen.get(key(registration));
      seen.put(
          key(registration),
          new Seen(
              annotations, authority.isEmpty() && before != null ? before.authority : authority));
    }

    /**
     * Gives a registration that is about to be made what it had, or else what the other one has.
     */
    void restore(HasMetadata registration) {
      Seen known =
          Optional.ofNullable(seen.get(key(registration)))
              .or(() -> seen.values().stream().findFirst())
              .orElse(new Seen(Map.of(), ""));
      if (!known.annotations.isEmpty()) {
        registration.getMetadata().setAnnotations(new HashMap<>(known.annotations));
      }
      if (!known.authority.isEmpty()) {
        targets(registration)
            .filter(target -> authority(target).isEmpty())
            .forEach(target -> target.setCaBundle(known.authority));
      }
    }

    /** For people, why the API server can't trust what a registration leads to; empty if it can. */
    Optional<String> fault(HasMetadata registration) {
      if (shown.isEmpty()) {
        return Optional.empty();
      }
      List<String> authorities = targets(registration).map(RegistrationTrust::authority).toList();
      long empty = authorities.stream().filter(String::isEmpty).count();
      if (empty > 0) {
        return Optional.of(
            "%d of %d entries of %s have no caBundle"
                .formatted(empty, authorities.size(), key(registration)));
      }
      return shown
          .get()
          .get()
          .filter(key -> authorities.stream().distinct().anyMatch(it -> !isSigner(it, key)))
          .map(
              any ->
                  "a caBundle of "
                      + key(registration)
                      + " is not of the authority that signed the certificate of the webhooks");
    }

    private static boolean isSigner(String authority, CertificateWithKey key) {
      try {
        List<X509Certificate> trusted =
            Pem.certificates(
                new String(Base64.getDecoder().decode(authority), StandardCharsets.US_ASCII));
        return key.chain().stream()
            .anyMatch(
                shown -> trusted.stream().anyMatch(it -> it.equals(shown) || signed(shown, it)));
      } catch (GeneralSecurityException | IllegalArgumentException unreadable) {
        return false;
      }
    }

    private static boolean signed(X509Certificate certificate, X509Certificate authority) {
      try {
        certificate.verify(authority.getPublicKey());
        return true;
      } catch (GeneralSecurityException notSigned) {
        return false;
      }
    }

    private static Stream<WebhookClientConfig> targets(HasMetadata registration) {
      return switch (registration) {
        case MutatingWebhookConfiguration it ->
            it.getWebhooks().stream().map(entry -> entry.getClientConfig());
        case ValidatingWebhookConfiguration it ->
            it.getWebhooks().stream().map(entry -> entry.getClientConfig());
        default -> Stream.of();
      };
    }

    private static String authority(WebhookClientConfig target) {
      return target.getCaBundle() == null ? "" : target.getCaBundle();
    }

    private static String key(HasMetadata registration) {
      return registration.getKind() + " " + registration.getMetadata().getName();
    }
  }
}
