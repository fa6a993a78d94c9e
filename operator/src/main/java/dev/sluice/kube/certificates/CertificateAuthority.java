package dev.sluice.kube.certificates;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.RSAKeyGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.regex.Pattern;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/** Makes certificates: of authorities, and of servers and clients below them. */
public final class CertificateAuthority {

  static final String NAME = "kueue-ca";
  static final String ORGANIZATION = "kueue";

  /** The clocks of two machines may differ; a certificate must be good at once on both. */
  public static final Duration BACKDATING = Duration.ofHours(1);

  private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|.*:.*");
  private static final int SERIAL_BITS = 127;
  private static final RSAKeyGenParameterSpec RSA =
      new RSAKeyGenParameterSpec(2048, RSAKeyGenParameterSpec.F4);

  private final InstantSource clock;
  private final SecureRandom random;

  public CertificateAuthority(InstantSource clock, SecureRandom random) {
    this.clock = clock;
    this.random = random;
  }

  /** The operator's own authority, which signs itself. */
  public CertificateWithKey authority(Duration validity) throws GeneralSecurityException {
    return authority(name(List.of(ORGANIZATION), NAME), validity);
  }

  /** An authority of this common name, which signs itself. */
  public CertificateWithKey authority(String commonName, Duration validity)
      throws GeneralSecurityException {
    return authority(name(List.of(), commonName), validity);
  }

  private CertificateWithKey authority(X500Name name, Duration validity)
      throws GeneralSecurityException {
    KeyPair pair = ellipticKeys();
    try {
      var builder = builder(name, name, validity, pair);
      builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(0));
      builder.addExtension(
          Extension.keyUsage,
          true,
          new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign | KeyUsage.digitalSignature));
      builder.addExtension(
          Extension.subjectKeyIdentifier,
          false,
          new JcaX509ExtensionUtils().createSubjectKeyIdentifier(pair.getPublic()));
      return CertificateWithKey.of(sign(builder, pair.getPrivate()), pair);
    } catch (CertIOException e) {
      throw new GeneralSecurityException(e);
    }
  }

  /** A serving certificate for host names and addresses, the first of which becomes its name. */
  public CertificateWithKey serving(
      CertificateWithKey authority, List<String> hosts, Duration validity)
      throws GeneralSecurityException {
    return issue(
        authority,
        name(List.of(ORGANIZATION), commonName(hosts)),
        ellipticKeys(),
        validity,
        KeyPurposeId.id_kp_serverAuth,
        hosts);
  }

  /**
   * A certificate that authenticates a client. Kubernetes reads the user from the common name and
   * the groups from the organizations.
   *
   * @param keys of the client
   */
  public CertificateWithKey client(
      CertificateWithKey authority,
      KeyPair keys,
      String user,
      List<String> groups,
      Duration validity)
      throws GeneralSecurityException {
    return issue(
        authority, name(groups, user), keys, validity, KeyPurposeId.id_kp_clientAuth, List.of());
  }

  private CertificateWithKey issue(
      CertificateWithKey authority,
      X500Name subject,
      KeyPair keys,
      Duration validity,
      KeyPurposeId purpose,
      List<String> hosts)
      throws GeneralSecurityException {
    X500Name issuer =
        X500Name.getInstance(authority.certificate().getSubjectX500Principal().getEncoded());
    try {
      var builder = builder(issuer, subject, validity, keys);
      builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
      builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
      builder.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(purpose));
      if (!hosts.isEmpty()) {
        builder.addExtension(Extension.subjectAlternativeName, false, alternatives(hosts));
      }
      builder.addExtension(
          Extension.authorityKeyIdentifier,
          false,
          new JcaX509ExtensionUtils()
              .createAuthorityKeyIdentifier(authority.certificate().getPublicKey()));
      return CertificateWithKey.of(sign(builder, authority.key()), keys);
    } catch (CertIOException e) {
      throw new GeneralSecurityException(e);
    }
  }

  /** New keys on the curve P-256. */
  public KeyPair ellipticKeys() throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"), random);
    return generator.generateKeyPair();
  }

  /** New RSA keys of 2048 bits, which take long to make, and which every client library reads. */
  public KeyPair rsaKeys() throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(RSA, random);
    return generator.generateKeyPair();
  }

  private JcaX509v3CertificateBuilder builder(
      X500Name issuer, X500Name subject, Duration validity, KeyPair pair) {
    Instant now = clock.instant();
    return new JcaX509v3CertificateBuilder(
        issuer,
        new BigInteger(SERIAL_BITS, random).add(BigInteger.ONE),
        Date.from(now.minus(BACKDATING)),
        Date.from(now.plus(validity)),
        subject,
        pair.getPublic());
  }

  private X509Certificate sign(JcaX509v3CertificateBuilder builder, PrivateKey key)
      throws GeneralSecurityException {
    String algorithm = key.getAlgorithm().equals("RSA") ? "SHA256withRSA" : "SHA256withECDSA";
    try {
      return new JcaX509CertificateConverter()
          .getCertificate(
              builder.build(
                  new JcaContentSignerBuilder(algorithm).setSecureRandom(random).build(key)));
    } catch (OperatorCreationException e) {
      throw new GeneralSecurityException(e);
    }
  }

  /** A common name may have 64 characters at most; clients look at the alternatives anyway. */
  private static String commonName(List<String> hosts) {
    return hosts.getFirst().length() <= 64 ? hosts.getFirst() : ORGANIZATION;
  }

  private static X500Name name(List<String> organizations, String commonName) {
    X500NameBuilder builder = new X500NameBuilder(BCStyle.INSTANCE);
    organizations.forEach(each -> builder.addRDN(BCStyle.O, each));
    return builder.addRDN(BCStyle.CN, commonName).build();
  }

  private static GeneralNames alternatives(Collection<String> hosts) {
    return new GeneralNames(
        hosts.stream()
            .map(
                host ->
                    new GeneralName(
                        ADDRESS.matcher(host).matches()
                            ? GeneralName.iPAddress
                            : GeneralName.dNSName,
                        host))
            .toArray(GeneralName[]::new));
  }
}
