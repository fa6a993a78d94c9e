package dev.sluice.workload.devices;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import com.google.common.collect.ImmutableCollection;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import com.google.re2j.Pattern;
import dev.cel.common.CelFunctionDecl;
import dev.cel.common.CelOptions;
import dev.cel.common.CelOverloadDecl;
import dev.cel.common.CelValidationException;
import dev.cel.common.types.CelType;
import dev.cel.common.types.CelTypeProvider;
import dev.cel.common.types.MapType;
import dev.cel.common.types.OpaqueType;
import dev.cel.common.types.SimpleType;
import dev.cel.common.types.StructType;
import dev.cel.common.types.StructTypeReference;
import dev.cel.common.values.CelByteString;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelFunctionBinding;
import dev.cel.runtime.CelFunctionOverload;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import dev.cel.runtime.CelStandardFunctions;
import dev.sluice.workload.devices.Device.DeviceVersion;
import java.math.BigInteger;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Judges devices by expressions in CEL, as the API server's scheduler does: {@code device.driver},
 * {@code device.attributes}, {@code device.capacity}, quantities and versions. Expressions come
 * from tenants. So what one may cost is bounded in its length, its nesting, its steps and the size
 * of each intermediate value. Compiled expressions are kept. Usable from any thread.
 */
final class DeviceSelectors {

  /** The API server allows as many characters. */
  private static final int LONGEST = 10 * 1024;

  /** What it takes to compile an expression. */
  private static final int STEPS_PER_CHARACTER = 4;

  private static final int DEEPEST = 100;
  private static final int MOST_ITERATIONS = 1000;
  private static final int LARGEST_PATTERN = 1000;
  private static final int LARGEST_PROGRAM = 10_000;

  /** A regular expression costs as much to compile as to run on so many characters. */
  private static final int COMPILATION = 10;

  private static final int INSTRUCTIONS_PER_STEP = 100;
  private static final int MOST_STEPS = 20_000;
  private static final int LARGEST_VALUE = 1000;
  private static final int ITEMS_PER_STEP = 20;
  private static final int LONGEST_TEXT = 4096;
  private static final int REMEMBERED = 1000;
  private static final int LONGEST_PROBLEM = 200;

  private static final String DEVICE = "device";
  private static final StructType DEVICE_TYPE =
      StructType.create(
          "kubernetes.DRADevice",
          ImmutableSet.of("driver", "attributes", "capacity", "allowMultipleAllocations"),
          DeviceSelectors::field);
  private static final OpaqueType QUANTITY = OpaqueType.create("kubernetes.Quantity");
  private static final OpaqueType VERSION = OpaqueType.create("kubernetes.Semver");

  private final Map<String, Selector> selectors =
      Collections.synchronizedMap(
          new LinkedHashMap<>(64, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Selector> eldestEntry) {
              return size() > REMEMBERED;
            }
          });

  /** A compiled expression, or why it can't be compiled. */
  private record Selector(CelRuntime.@Nullable Program program, String problem) {}

  /** Compiled regular expressions, as many as have so many instructions together. */
  private static final Cache<String, Pattern> PATTERNS =
      CacheBuilder.newBuilder()
          .concurrencyLevel(1)
          .maximumWeight(20L * LARGEST_PROGRAM)
          .<String, Pattern>weigher((pattern, compiled) -> (int) programSize(pattern))
          .build();

  /** Counts the steps of the evaluation that runs on this thread. */
  private static final ThreadLocal<Meter> METER = ThreadLocal.withInitial(Meter::new);

  /** The steps of one evaluation. */
  private static final class Meter {

    private long steps;

    void add(long more) {
      steps += more;
      if (steps > MOST_STEPS) {
        throw new IllegalStateException("the expression costs too much");
      }
    }
  }

  /**
   * Whether a text has a part that matches a regular expression, in linear time: instructions times
   * characters.
   */
  private static boolean matchesPattern(String text, String pattern) {
    long size = programSize(pattern);
    if (pattern.length() > LARGEST_PATTERN || size > LARGEST_PROGRAM) {
      throw new IllegalArgumentException("the regular expression is too large");
    }
    METER.get().add(size * (text.length() + COMPILATION) / INSTRUCTIONS_PER_STEP);
    Pattern compiled = PATTERNS.getIfPresent(pattern);
    if (compiled == null) {
      compiled = Pattern.compile(pattern);
      PATTERNS.put(pattern, compiled);
    }
    return compiled.matcher(text).find();
  }

  /**
   * The most instructions that a regular expression has once it is compiled, as far as the bound
   * matters. Repetitions with numbers are written out then; those inside of each other multiply. So
   * each character counts as often as all numbers multiply to.
   */
  private static long programSize(String pattern) {
    return pattern.length() * repetitions(pattern);
  }

  private static long repetitions(String pattern) {
    long product = 1;
    long number = 0;
    for (int i = 0; i < pattern.length() && product <= LARGEST_PROGRAM; i++) {
      char at = pattern.charAt(i);
      if (at >= '0' && at <= '9') {
        number = Math.min(LARGEST_PROGRAM + 1L, number * 10 + (at - '0'));
      } else {
        product = at == ',' || at == '}' ? product * Math.max(1, number) : product;
        number = 0;
      }
    }
    return product;
  }

  private static long part(DeviceVersion version, int index) {
    BigInteger number = version.numbers().get(index);
    return number.longValueExact();
  }

  private static Optional<CelType> field(String name) {
    return switch (name) {
      case "driver" -> Optional.of(SimpleType.STRING);
      case "attributes" ->
          Optional.of(
              MapType.create(SimpleType.STRING, MapType.create(SimpleType.STRING, SimpleType.DYN)));
      case "capacity" ->
          Optional.of(
              MapType.create(SimpleType.STRING, MapType.create(SimpleType.STRING, QUANTITY)));
      case "allowMultipleAllocations" -> Optional.of(SimpleType.BOOL);
      default -> Optional.empty();
    };
  }

  /**
   * Whether the steps are enough to compile expressions, which takes these steps even if they are
   * compiled already: so the result is the same again.
   */
  static boolean areWithin(List<String> expressions, SelectorWork work) {
    work.spend(expressions.stream().mapToLong(String::length).sum() * STEPS_PER_CHARACTER);
    return !work.isDone();
  }

  /** Why an expression can't be used; empty if it can. */
  Optional<String> problem(String expression) {
    String problem = selector(expression).problem();
    return problem.isEmpty() ? Optional.empty() : Optional.of(problem);
  }

  /**
   * Whether a device meets an expression; it doesn't if the expression fails for the device.
   *
   * @param work takes the steps of the expression
   */
  boolean matches(String expression, Device device, SelectorWork work) {
    CelRuntime.Program program = selector(expression).program();
    if (program == null) {
      return false;
    }
    Meter meter = new Meter();
    METER.set(meter);
    try {
      Object result =
          program.trace(
              Map.of(DEVICE, device.celValue()),
              (part, value) -> meter.add(1 + size(value) / ITEMS_PER_STEP));
      return Boolean.TRUE.equals(result);
    } catch (CelEvaluationException | RuntimeException | StackOverflowError failed) {
      return false;
    } finally {
      METER.remove();
      work.spend(1 + meter.steps);
    }
  }

  /**
   * How many items a value has at all levels; looks at no more of it than is allowed.
   *
   * @throws IllegalStateException if it holds too much
   */
  private static int size(@Nullable Object value) {
    if (length(value) > LONGEST_TEXT) {
      throw new IllegalStateException("a text is too long");
    }
    if (value == null || items(value).isEmpty()) {
      return 0;
    }
    Deque<Object> open = new ArrayDeque<>(List.of(value));
    int seen = 0;
    while (!open.isEmpty()) {
      Object next = open.pop();
      Collection<?> items = items(next);
      // the keys of a map are compared, too
      seen += next instanceof Map ? 2 * items.size() : items.size();
      if (seen > LARGEST_VALUE) {
        throw new IllegalStateException("a list or a map is too long");
      }
      items.forEach(open::push);
    }
    return seen;
  }

  private static int length(@Nullable Object value) {
    return switch (value) {
      case CharSequence text -> text.length();
      case CelByteString bytes -> bytes.size();
      case null, default -> 0;
    };
  }

  private static Collection<?> items(Object value) {
    return switch (value) {
      case Collection<?> list -> list;
      case Map<?, ?> map -> map.values();
      default -> List.of();
    };
  }

  private Selector selector(String expression) {
    Selector known = selectors.get(expression);
    if (known == null) {
      known = compiled(expression);
      selectors.put(expression, known);
    }
    return known;
  }

  private static Selector compiled(String expression) {
    Environment environment = Environment.INSTANCE;
    try {
      return new Selector(
          environment
              .celRuntime()
              .createProgram(environment.celCompiler().compile(expression).getAst()),
          "");
    } catch (CelValidationException
        | CelEvaluationException
        | RuntimeException
        | StackOverflowError e) {
      String text = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
      return new Selector(null, text.substring(0, Math.min(text.length(), LONGEST_PROBLEM)));
    }
  }

  /**
   * Compiles and evaluates. It is made when the first expression is met: most clusters have none.
   */
  private record Environment(CelCompiler celCompiler, CelRuntime celRuntime) {

    private static final Environment INSTANCE = create();

    private static Environment create() {
      CelOptions options =
          CelOptions.current()
              .maxExpressionCodePointSize(LONGEST)
              .maxParseRecursionDepth(DEEPEST)
              .comprehensionMaxIterations(MOST_ITERATIONS)
              .enableHeterogeneousNumericComparisons(true)
              .build();
      Functions functions = new Functions();
      functions.parsing("quantity", "isQuantity", QUANTITY, DeviceAmount::of);
      functions.parsing("semver", "isSemver", VERSION, DeviceVersion::of);
      functions.comparing(QUANTITY, DeviceAmount.class);
      functions.comparing(VERSION, DeviceVersion.class);
      functions.number(
          "sign", QUANTITY, DeviceAmount.class, amount -> (long) amount.value().signum());
      functions.number(
          "asInteger", QUANTITY, DeviceAmount.class, amount -> amount.value().longValueExact());
      functions.number("major", VERSION, DeviceVersion.class, of -> part(of, 0));
      functions.number("minor", VERSION, DeviceVersion.class, of -> part(of, 1));
      functions.number("patch", VERSION, DeviceVersion.class, of -> part(of, 2));
      CelCompiler celCompiler =
          CelCompilerFactory.standardCelCompilerBuilder()
              .setOptions(options)
              .setStandardMacros(CelStandardMacro.STANDARD_MACROS)
              .setTypeProvider(new Types())
              .addVar(DEVICE, StructTypeReference.create(DEVICE_TYPE.name()))
              .addFunctionDeclarations(functions.declarations())
              .setResultType(SimpleType.BOOL)
              .build();
      CelRuntime celRuntime =
          CelRuntimeFactory.standardCelRuntimeBuilder()
              .setOptions(options)
              .setStandardEnvironmentEnabled(false)
              .setStandardFunctions(
                  CelStandardFunctions.newBuilder()
                      .excludeFunctions(CelStandardFunctions.StandardFunction.MATCHES)
                      .build())
              .addFunctionBindings(functions.bindings)
              .addFunctionBindings(
                  CelFunctionBinding.from(
                      "matches", String.class, String.class, DeviceSelectors::matchesPattern),
                  CelFunctionBinding.from(
                      "matches_string",
                      String.class,
                      String.class,
                      DeviceSelectors::matchesPattern))
              .build();
      return new Environment(celCompiler, celRuntime);
    }
  }

  /** The types of expressions that CEL itself doesn't have. */
  private static final class Types implements CelTypeProvider {

    @Override
    public ImmutableCollection<CelType> types() {
      return ImmutableList.of(DEVICE_TYPE, QUANTITY, VERSION);
    }

    @Override
    public Optional<CelType> findType(String name) {
      return types().stream().filter(type -> type.name().equals(name)).findFirst();
    }
  }

  /** The functions of expressions that CEL itself doesn't have. */
  private static final class Functions {

    private final Map<String, List<CelOverloadDecl>> overloads = new LinkedHashMap<>();
    private final List<CelFunctionBinding> bindings = new ArrayList<>();

    private void add(String name, CelOverloadDecl declaration, CelFunctionBinding binding) {
      overloads.computeIfAbsent(name, any -> new ArrayList<>()).add(declaration);
      bindings.add(binding);
    }

    List<CelFunctionDecl> declarations() {
      List<CelFunctionDecl> result = new ArrayList<>();
      overloads.forEach(
          (name, declared) -> result.add(CelFunctionDecl.newFunctionDeclaration(name, declared)));
      return result;
    }

    void parsing(String name, String test, CelType type, CelFunctionOverload.Unary<String> parser) {
      add(
          name,
          CelOverloadDecl.newGlobalOverload(name + "_string", type, SimpleType.STRING),
          CelFunctionBinding.from(name + "_string", String.class, parser));
      add(
          test,
          CelOverloadDecl.newGlobalOverload(test + "_string", SimpleType.BOOL, SimpleType.STRING),
          CelFunctionBinding.from(
              test + "_string",
              String.class,
              text -> {
                try {
                  var unused = parser.apply(text);
                  return true;
                } catch (IllegalArgumentException e) {
                  return false;
                }
              }));
    }

    <T extends Comparable<T>> void comparing(CelType type, Class<T> values) {
      String id = values.getSimpleName();
      add(
          "compareTo",
          CelOverloadDecl.newMemberOverload(id + "_compare", SimpleType.INT, type, type),
          CelFunctionBinding.from(
              id + "_compare", values, values, (a, b) -> (long) Integer.signum(a.compareTo(b))));
      add(
          "isGreaterThan",
          CelOverloadDecl.newMemberOverload(id + "_greater", SimpleType.BOOL, type, type),
          CelFunctionBinding.from(id + "_greater", values, values, (a, b) -> a.compareTo(b) > 0));
      add(
          "isLessThan",
          CelOverloadDecl.newMemberOverload(id + "_less", SimpleType.BOOL, type, type),
          CelFunctionBinding.from(id + "_less", values, values, (a, b) -> a.compareTo(b) < 0));
    }

    /** Adds a function whose result is a {@code Long}. */
    <T> void number(
        String name, CelType type, Class<T> values, CelFunctionOverload.Unary<T> number) {
      String id = values.getSimpleName() + "_" + name;
      add(
          name,
          CelOverloadDecl.newMemberOverload(id, SimpleType.INT, type),
          CelFunctionBinding.from(id, values, number));
    }
  }

  /**
   * The steps that selectors may take together, whoever wrote them. Not thread-safe: each count of
   * devices has its own.
   */
  static final class SelectorWork {

    /** So many steps are about a second: a selector of ten steps for 200,000 devices. */
    static final long MOST = 2_000_000;

    private long left;

    /** At most so many steps. */
    SelectorWork(long most) {
      left = most;
    }

    /** The steps that may still be taken. */
    long left() {
      return left;
    }

    /** Takes steps, or as many as are left. */
    void spend(long steps) {
      left -= Math.min(left, steps);
    }

    /** Whether no steps are left: then what was found isn't complete. */
    boolean isDone() {
      return left == 0;
    }
  }
}
