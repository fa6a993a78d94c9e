package dev.sluice.reference;

/**
 * A violation of a rule about devices that is planted into the reference, to see whether the
 * comparison finds it.
 */
enum DeviceFlaw {
  /** The rules as they are. */
  NONE,
  /** Slices of older generations count. */
  OLDER_GENERATIONS_COUNT,
  /** Pools of which slices are missing count. */
  INCOMPLETE_POOLS_COUNT,
  /** Taints count whatever the gate. */
  TAINTS_WITHOUT_GATE,
  /** No toleration matters. */
  TOLERATIONS_ARE_IGNORED,
  /** What the class selects doesn't matter. */
  SELECTORS_OF_CLASSES_ARE_IGNORED,
  /** What the request selects doesn't matter. */
  SELECTORS_OF_REQUESTS_ARE_IGNORED,
  /** What a source selects doesn't matter. */
  SELECTORS_OF_SOURCES_ARE_IGNORED,
  /** A source counts devices of all drivers. */
  DRIVERS_ARE_IGNORED,
  /** An expression that can't be compiled is one that nobody meets. */
  BROKEN_SELECTORS_MATCH_NOTHING_ELSE,
  /** The first device is charged instead of the largest. */
  FIRST_DEVICE,
  /** A device consumes a counter of its first set only. */
  FIRST_COUNTER_SET,
  /** Each request is for one device. */
  COUNT_IS_ONE,
  /** Fewer devices than requested are enough. */
  FEWER_ARE_ENOUGH,
  /** A request that names no amount consumes all, whatever the policy says. */
  DEFAULTS_ARE_IGNORED,
  /** Amounts aren't rounded up. */
  NOTHING_IS_ROUNDED,
  /** A device that can be shared satisfies one request. */
  NOTHING_IS_SHARED,
  /** Capacities that a request doesn't name are free. */
  OTHER_CAPACITIES_ARE_FREE,
  /** Of several mappings of a class the first counts. */
  FIRST_MAPPING,
  /** Alternatives count as the first. */
  FIRST_ALTERNATIVE,
  /** Alternatives count only if all are there. */
  ALL_ALTERNATIVES,
  /** Devices of several nodes are taken together. */
  SEVERAL_NODES,
  /** Requests of a pod get the same devices. */
  REQUESTS_SHARE_DEVICES,
  /** A device that every node reaches is on none. */
  NETWORK_DEVICES_ARE_NOWHERE,
  /** A node needs the devices that count, and no others. */
  ONLY_WHAT_COUNTS,
  /** Whoever watches is charged. */
  ADMINISTRATORS_ARE_CHARGED,
  /** Two claims of one template count once. */
  TEMPLATES_COUNT_ONCE,
  /** The oldest class stands behind a resource. */
  OLDEST_CLASS,
  /** What devices stand behind is transformed as well. */
  TRANSFORMED_AS_WELL,
  /** Devices stand behind resources whatever the gate. */
  EXTENDED_WITHOUT_GATE,
  /** Init containers and containers are added up. */
  INIT_CONTAINERS_ARE_ADDED,
  /** A claim counts as at the admission, whatever it got. */
  CLAIMS_COUNT_AS_ADMITTED,
  /** A claim consumes the whole of a capacity. */
  CLAIMS_CONSUME_ALL
}
