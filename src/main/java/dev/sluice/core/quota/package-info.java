/**
 * The quota tree: who may use how much, who uses it, what is free. Quotas of queues and cohorts and
 * amounts to add or remove may enter. What is available, and what could ever be, leaves.
 */
@NullMarked
package dev.sluice.core.quota;

import org.jspecify.annotations.NullMarked;
