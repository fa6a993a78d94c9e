package dev.sluice.lab.controlplane;

import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.AlgorithmParameterSpec;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.RSAKeyGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.stream.Stream;
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
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * Issues the certificates of one control plane, valid for ten years. Keys are elliptic, except
 * where a client library may not read those.
 */
final class ControlPlaneAuthority {

  private static final Duration VALIDITY = Duration.ofDays(3650);
  private static final RSAKeyGenParameterSpec RSA =
      new RSAKeyGenParameterSpec(2048, RSAKeyGenParameterSpec.F4);
  private static final Duration CLOCK_SKEW = Duration.ofHours(1);

  private final SecureRandom random;
  private final Instant now;
  private final Credential own;

  private ControlPlaneAuthority(SecureRandom random, Instant now, Credential own) {
    this.random = random;
    this.now = now;
    this.own = own;
  }

  /** A new authority that signs itself. */
  static ControlPlaneAuthority create(String name, Instant now, SecureRandom random) {
    try {
      KeyPair keys = newEllipticKeys(random);
      X500Name subject = subject(name, List.of());
      X509v3CertificateBuilder builder =
          new JcaX509v3CertificateBuilder(
              subject, serial(random), begin(now), end(now), subject, keys.getPublic());
      builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(true));
      builder.addExtension(
          Extension.keyUsage,
          true,
          new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign | KeyUsage.digitalSignature));
      builder.addExtension(
          Extension.subjectKeyIdentifier,
          false,
          new JcaX509ExtensionUtils().createSubjectKeyIdentifier(keys.getPublic()));
      return new ControlPlaneAuthority(
          random, now, new Credential(sign(builder, keys), keys.getPrivate()));
    } catch (GeneralSecurityException | OperatorCreationException | IOException e) {
      throw new ControlPlaneException("can't make a certificate authority", e);
    }
  }

  /** The authority's own certificate and key. */
  Credential own() {
    return own;
  }

  /** A credential that authenticates a client as a user of groups. */
  Credential client(String user, List<String> groups) {
    return client(newEllipticKeys(random), user, groups);
  }

  /** The same with an RSA key, which takes long to make, and which every client library reads. */
  Credential clientOfAnyLibrary(String user, List<String> groups) {
    return client(newKeys("RSA", RSA, random), user, groups);
  }

  private Credential client(KeyPair keys, String user, List<String> groups) {
    return issue(keys, subject(user, groups), KeyPurposeId.id_kp_clientAuth, List.of());
  }

  /** A credential that authenticates a server by these names and addresses. */
  Credential server(String name, List<String> dnsNames, List<String> addresses) {
    List<GeneralName> names =
        Stream.concat(
                dnsNames.stream().map(dns -> new GeneralName(GeneralName.dNSName, dns)),
                addresses.stream().map(ip -> new GeneralName(GeneralName.iPAddress, ip)))
            .toList();
    KeyPair keys = newEllipticKeys(random);
    return issue(keys, subject(name, List.of()), KeyPurposeId.id_kp_serverAuth, names);
  }

  private Credential issue(
      KeyPair keys, X500Name subject, KeyPurposeId purpose, List<GeneralName> names) {
    try {
      X509Certificate issuer = own.certificate();
      JcaX509ExtensionUtils extensions = new JcaX509ExtensionUtils();
      X509v3CertificateBuilder builder =
          new JcaX509v3CertificateBuilder(
              new X500Name(issuer.getSubjectX500Principal().getName()),
              serial(random),
              begin(now),
              end(now),
              subject,
              keys.getPublic());
      builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
      builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
      builder.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(purpose));
      builder.addExtension(
          Extension.authorityKeyIdentifier,
          false,
          extensions.createAuthorityKeyIdentifier(issuer.getPublicKey()));
      if (!names.isEmpty()) {
        builder.addExtension(
            Extension.subjectAlternativeName,
            false,
            new GeneralNames(names.toArray(GeneralName[]::new)));
      }
      KeyPair signer = new KeyPair(issuer.getPublicKey(), own.key());
      return new Credential(sign(builder, signer), keys.getPrivate());
    } catch (GeneralSecurityException | OperatorCreationException | IOException e) {
      throw new ControlPlaneException("can't make a certificate for " + subject, e);
    }
  }

  /** A new pair of elliptic keys. */
  static KeyPair newEllipticKeys(SecureRandom random) {
    return newKeys("EC", new ECGenParameterSpec("secp256r1"), random);
  }

  private static KeyPair newKeys(
      String algorithm, AlgorithmParameterSpec parameters, SecureRandom random) {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
      generator.initialize(parameters, random);
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK makes " + algorithm + " keys", e);
    }
  }

  private static X509Certificate sign(X509v3CertificateBuilder builder, KeyPair signer)
      throws OperatorCreationException, GeneralSecurityException {
    return new JcaX509CertificateConverter()
        .getCertificate(
            builder.build(
                new JcaContentSignerBuilder("SHA256withECDSA").build(signer.getPrivate())));
  }

  /** Kubernetes reads the user from the common name, and the groups from the organizations. */
  private static X500Name subject(String user, List<String> groups) {
    X500NameBuilder builder = new X500NameBuilder(BCStyle.INSTANCE);
    groups.forEach(group -> builder.addRDN(BCStyle.O, group));
    return builder.addRDN(BCStyle.CN, user).build();
  }

  private static BigInteger serial(SecureRandom random) {
    return new BigInteger(127, random).add(BigInteger.ONE);
  }

  private static Date begin(Instant now) {
    return Date.from(now.minus(CLOCK_SKEW));
  }

  private static Date end(Instant now) {
    return Date.from(now.plus(VALIDITY));
  }
}
