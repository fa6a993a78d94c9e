/** The quota trees: quota, usage and available amounts of queues and cohorts. */
@NullMarked
package dev.sluice.core.quota;

import org.jspecify.annotations.NullMarked;
