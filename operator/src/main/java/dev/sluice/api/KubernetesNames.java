package dev.sluice.api;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.regex.Pattern;

/** The shapes of names that Kubernetes knows. */
public final class KubernetesNames {

  private static final String DNS_LABEL_FORM = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

  /** The form of a DNS subdomain, as a regular expression, without the limit of its length. */
  public static final String SUBDOMAIN_FORM = DNS_LABEL_FORM + "(\\." + DNS_LABEL_FORM + ")*";

  /** The form of the name in a label key, and of a label value that isn't empty. */
  public static final String NAME_FORM = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

  /** The longest DNS subdomain. */
  public static final int MAX_SUBDOMAIN = 253;

  /** The longest DNS label, name in a label key, and label value. */
  public static final int MAX_NAME = 63;

  private static final Pattern DNS_LABEL = Pattern.compile(DNS_LABEL_FORM);
  private static final Pattern DNS_1035 = Pattern.compile("[a-z]([-a-z0-9]*[a-z0-9])?");
  private static final Pattern NAME = Pattern.compile(NAME_FORM);
  private static final Pattern GVK =
      Pattern.compile("[A-Z][A-Za-z0-9]*\\.v[a-z0-9]+\\.[a-z0-9.-]+");

  /** What a label key has to be. */
  public static final String LABEL_KEY_RULE =
      "a label key: an optional DNS subdomain and \"/\", then 1 to 63 letters, digits, \"-\", \"_\" or"
          + " \".\", beginning and ending with a letter or digit";

  /** What a label value has to be. */
  public static final String LABEL_VALUE_RULE =
      "a label value: at most 63 letters, digits, \"-\", \"_\" or \".\", beginning and ending with a"
          + " letter or digit";

  /** What a DNS subdomain has to be. */
  public static final String SUBDOMAIN_RULE =
      "a DNS subdomain: at most 253 lower-case letters, digits, \"-\" or \".\", each part beginning and"
          + " ending with a letter or digit";

  /** What the name of a Service has to be. */
  public static final String DNS_1035_RULE =
      "a DNS label: at most 63 lower-case letters, digits or \"-\", beginning with a letter";

  /** What the name of a namespace has to be. */
  public static final String DNS_LABEL_RULE =
      "a DNS label: at most 63 lower-case letters, digits or \"-\", beginning and ending with a letter or"
          + " digit";

  /** What a kind with version and group has to be. */
  public static final String GVK_RULE = "Kind.version.group, such as TFJob.v1.kubeflow.org";

  private KubernetesNames() {}

  /** Whether a text may name a namespace. */
  public static boolean isDnsLabel(String text) {
    return text.length() <= MAX_NAME && DNS_LABEL.matcher(text).matches();
  }

  /** Whether a text may name a Service. */
  public static boolean isDns1035Label(String text) {
    return text.length() <= MAX_NAME && DNS_1035.matcher(text).matches();
  }

  /** Whether a text is a DNS subdomain. */
  public static boolean isSubdomain(String text) {
    return text.length() <= MAX_SUBDOMAIN
        && !text.isEmpty()
        && Arrays.stream(text.split("\\.", -1)).allMatch(part -> DNS_LABEL.matcher(part).matches());
  }

  /** Whether a text is a label key. */
  public static boolean isLabelKey(String text) {
    int slash = text.indexOf('/');
    String name = text.substring(slash + 1);
    return (slash < 0 || isSubdomain(text.substring(0, slash)))
        && name.length() <= MAX_NAME
        && hasNameForm(name);
  }

  /**
   * Whether a text has the form of the name in a label key; its length is not looked at, but one
   * that is longer than any name is never matched against a pattern.
   */
  public static boolean hasNameForm(String text) {
    return text.length() <= MAX_SUBDOMAIN && NAME.matcher(text).matches();
  }

  /** Whether a text is a label value; the empty one is. */
  public static boolean isLabelValue(String text) {
    return text.isEmpty() || (text.length() <= MAX_NAME && hasNameForm(text));
  }

  /** Whether a text is an IP address of one host. */
  public static boolean isIpAddress(String text) {
    try {
      return !InetAddress.ofLiteral(text).isMulticastAddress();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** Whether a text has the form Kind.version.group. */
  public static boolean isGroupVersionKind(String text) {
    return GVK.matcher(text).matches();
  }
}
