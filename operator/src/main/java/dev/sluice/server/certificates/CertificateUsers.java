package dev.sluice.server.certificates;

import dev.sluice.kube.certificates.Pem;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.authentication.UserInfoBuilder;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.bouncycastle.asn1.ASN1String;
import org.bouncycastle.asn1.x500.AttributeTypeAndValue;
import org.bouncycastle.asn1.x500.RDN;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.style.BCStyle;

/**
 * Users by their client certificates, as an API server knows them: the common name is the user, the
 * organizations are the groups.
 */
public final class CertificateUsers {

  /** The group of everybody whom an API server knows. */
  public static final String AUTHENTICATED = "system:authenticated";

  /** Type of a key exchange; only the algorithms of the chain are judged. */
  private static final String ANY_KEY = "UNKNOWN";

  private CertificateUsers() {}

  /**
   * The user of a certificate that one of these authorities signed for clients, and that is valid
   * now; empty for others, and for a certificate without common name.
   *
   * @param chain what the client presented, its own certificate first
   * @param authorities PEM, empty if there is none
   */
  public static Optional<UserInfo> of(List<X509Certificate> chain, String authorities) {
    return !chain.isEmpty() && isSigned(chain, authorities)
        ? user(chain.getFirst())
        : Optional.empty();
  }

  private static boolean isSigned(List<X509Certificate> chain, String authorities) {
    try {
      trust(authorities).checkClientTrusted(chain.toArray(X509Certificate[]::new), ANY_KEY);
      return true;
    } catch (GeneralSecurityException | IllegalArgumentException notTrusted) {
      return false;
    }
  }

  private static X509ExtendedTrustManager trust(String pem) throws GeneralSecurityException {
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      int number = 0;
      for (X509Certificate each : Pem.certificates(pem)) {
        store.setCertificateEntry("authority-" + number++, each);
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(store);
      return Stream.of(factory.getTrustManagers())
          .filter(X509ExtendedTrustManager.class::isInstance)
          .map(X509ExtendedTrustManager.class::cast)
          .findFirst()
          .orElseThrow();
    } catch (IOException e) {
      throw new GeneralSecurityException(e);
    }
  }

  private static Optional<UserInfo> user(X509Certificate certificate) {
    String name = "";
    List<String> groups = new ArrayList<>();
    X500Name subject = X500Name.getInstance(certificate.getSubjectX500Principal().getEncoded());
    for (RDN part : subject.getRDNs()) {
      for (AttributeTypeAndValue value : part.getTypesAndValues()) {
        if (value.getType().equals(BCStyle.CN)) {
          name = string(value);
        } else if (value.getType().equals(BCStyle.O)) {
          groups.add(string(value));
        }
      }
    }
    if (name.isEmpty()) {
      return Optional.empty();
    }
    groups.add(AUTHENTICATED);
    return Optional.of(new UserInfoBuilder().withUsername(name).withGroups(groups).build());
  }

  private static String string(AttributeTypeAndValue value) {
    return value.getValue() instanceof ASN1String text ? text.getString() : "";
  }
}
