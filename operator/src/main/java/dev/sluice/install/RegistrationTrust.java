package dev.sluice.install;

import dev.sluice.kube.certificates.CertificateWithKey;
import dev.sluice.kube.certificates.Pem;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingWebhookConfiguration;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.WebhookClientConfig;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * What the webhook registrations say about trust besides their rules: the authority in {@code
 * caBundle}, and the annotations by which others know that they are to write it. Remembers both, so
 * that a registration that is made anew has them. Not thread-safe.
 */
final class RegistrationTrust {

  private static final String LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

  private final Optional<Supplier<Optional<CertificateWithKey>>> shown;
  private final Map<String, Seen> seen = new HashMap<>();

  private record Seen(Map<String, String> annotations, String authority) {}

  /**
   * Nothing was seen yet.
   *
   * @param shown the certificate that the webhooks show now, where somebody else has to publish its
   *     authority; empty where the operator publishes it and nothing is judged here
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

  /** Gives a registration that is about to be made what it had, or else what the other one has. */
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
