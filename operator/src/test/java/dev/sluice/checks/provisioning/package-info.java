/** Tests of the admission check that has an autoscaler provide nodes. */
@NullMarked
package dev.sluice.checks.provisioning;

import org.jspecify.annotations.NullMarked;
