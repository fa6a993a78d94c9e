/**
 * The slim record that is kept of a Workload, how it is parsed, and the cache of all records. Bytes
 * of the API server and rules of namespaces may enter. Immutable records leave, and calls of
 * listeners.
 */
@NullMarked
package dev.sluice.workload.record;

import org.jspecify.annotations.NullMarked;
