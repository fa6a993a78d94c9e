package dev.sluice.webhooks.rules;

import dev.sluice.api.KubernetesNames;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Says which rules of {@link KubernetesNames} a name, label key or label value breaks, in the words
 * of the API server.
 */
public final class NameValidation {

  private static final String PATH_FORM = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
  private static final Pattern PATH = Pattern.compile(PATH_FORM);

  private NameValidation() {}

  /** The rules of a DNS subdomain that the value breaks; none if it is one. */
  public static List<String> subdomain(String value) {
    List<String> broken = new ArrayList<>();
    if (value.length() > KubernetesNames.MAX_SUBDOMAIN) {
      broken.add("must be no more than " + KubernetesNames.MAX_SUBDOMAIN + " bytes");
    }
    if (!KubernetesNames.isSubdomain(value)) {
      broken.add(
          "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters,"
              + " '-' or '.', and must start and end with an alphanumeric character"
              + " (e.g. 'example.com', regex used for validation is '"
              + KubernetesNames.SUBDOMAIN_FORM
              + "')");
    }
    return broken;
  }

  /** Validates a label key: a name, or a domain, a slash, and a name. */
  public static List<String> qualified(String value) {
    int slash = value.indexOf('/');
    if (slash != value.lastIndexOf('/')) {
      return List.of(
          "a qualified name must consist of alphanumeric characters, '-', '_' or '.', with an"
              + " optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
    }
    List<String> broken = new ArrayList<>();
    if (slash == 0) {
      broken.add("prefix part must be non-empty");
    } else if (slash > 0) {
      subdomain(value.substring(0, slash)).forEach(it -> broken.add("prefix part " + it));
    }
    broken.addAll(namePart(value.substring(slash + 1)));
    return broken;
  }

  private static List<String> namePart(String name) {
    if (name.isEmpty()) {
      return List.of("name part must be non-empty");
    }
    List<String> broken = new ArrayList<>();
    if (name.length() > KubernetesNames.MAX_NAME) {
      broken.add("name part must be no more than " + KubernetesNames.MAX_NAME + " bytes");
    }
    if (!KubernetesNames.hasNameForm(name)) {
      broken.add(
          "name part must consist of alphanumeric characters, '-', '_' or '.', and must start"
              + " and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or"
              + " '123-abc', regex used for validation is '"
              + KubernetesNames.NAME_FORM
              + "')");
    }
    return broken;
  }

  /** The rules of a label value that the value breaks; none if it is one. */
  public static List<String> labelValue(String value) {
    List<String> broken = new ArrayList<>();
    if (value.length() > KubernetesNames.MAX_NAME) {
      broken.add("must be no more than " + KubernetesNames.MAX_NAME + " bytes");
    }
    if (!value.isEmpty() && !KubernetesNames.hasNameForm(value)) {
      broken.add(
          "a valid label must be an empty string or consist of alphanumeric characters, '-',"
              + " '_' or '.', and must start and end with an alphanumeric character (e.g."
              + " 'MyValue',  or 'my_value',  or '12345', regex used for validation is '("
              + KubernetesNames.NAME_FORM
              + ")?')");
    }
    return broken;
  }

  /** Validates a domain, a slash, and a path. */
  static List<String> domainPrefixedPath(String value) {
    int slash = value.indexOf('/');
    if (slash <= 0 || slash == value.length() - 1) {
      return List.of("must be a domain-prefixed path (such as \"acme.io/foo\")");
    }
    List<String> broken = new ArrayList<>();
    subdomain(value.substring(0, slash)).forEach(it -> broken.add("prefix part " + it));
    if (!PATH.matcher(value.substring(slash + 1)).matches()) {
      broken.add("invalid path (regex used for validation is '" + PATH_FORM + "')");
    }
    return broken;
  }
}
