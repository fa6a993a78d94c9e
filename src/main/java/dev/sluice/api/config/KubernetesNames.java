package dev.sluice.api.config;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.regex.Pattern;

/** The shapes of names that Kubernetes knows. */
final class KubernetesNames {

  private static final Pattern DNS_LABEL = Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?");
  private static final Pattern DNS_1035 = Pattern.compile("[a-z]([-a-z0-9]*[a-z0-9])?");
  private static final Pattern QUALIFIED =
      Pattern.compile("[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?");
  private static final Pattern GVK =
      Pattern.compile("[A-Z][A-Za-z0-9]*\\.v[a-z0-9]+\\.[a-z0-9.-]+");

  static final String LABEL_KEY_RULE =
      "a label key: an optional DNS subdomain and \"/\", then 1 to 63 letters, digits, \"-\", \"_\" or"
          + " \".\", beginning and ending with a letter or digit";
  static final String LABEL_VALUE_RULE =
      "a label value: at most 63 letters, digits, \"-\", \"_\" or \".\", beginning and ending with a"
          + " letter or digit";
  static final String SUBDOMAIN_RULE =
      "a DNS subdomain: at most 253 lower-case letters, digits, \"-\" or \".\", each part beginning and"
          + " ending with a letter or digit";
  static final String DNS_1035_RULE =
      "a DNS label: at most 63 lower-case letters, digits or \"-\", beginning with a letter";
  static final String DNS_LABEL_RULE =
      "a DNS label: at most 63 lower-case letters, digits or \"-\", beginning and ending with a letter or"
          + " digit";
  static final String GVK_RULE = "Kind.version.group, such as TFJob.v1.kubeflow.org";

  private KubernetesNames() {}

  static boolean isDnsLabel(String text) {
    return text.length() <= 63 && DNS_LABEL.matcher(text).matches();
  }

  static boolean isDns1035Label(String text) {
    return text.length() <= 63 && DNS_1035.matcher(text).matches();
  }

  static boolean isSubdomain(String text) {
    return text.length() <= 253
        && !text.isEmpty()
        && Arrays.stream(text.split("\\.", -1)).allMatch(part -> DNS_LABEL.matcher(part).matches());
  }

  static boolean isLabelKey(String text) {
    int slash = text.indexOf('/');
    String name = text.substring(slash + 1);
    return (slash < 0 || isSubdomain(text.substring(0, slash)))
        && name.length() <= 63
        && QUALIFIED.matcher(name).matches();
  }

  static boolean isLabelValue(String text) {
    return text.isEmpty() || (text.length() <= 63 && QUALIFIED.matcher(text).matches());
  }

  static boolean isIpAddress(String text) {
    try {
      return !InetAddress.ofLiteral(text).isMulticastAddress();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  static boolean isGroupVersionKind(String text) {
    return GVK.matcher(text).matches();
  }
}
