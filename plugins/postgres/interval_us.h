/*-------------------------------------------------------------------------
 *
 * interval_us.h
 *	  Length of an interval in microseconds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef INTERVAL_US_H
#define INTERVAL_US_H

#include "datatype/timestamp.h"

extern bool interval_to_us(const Interval *interval, int64 *us);

#endif							/* INTERVAL_US_H */
