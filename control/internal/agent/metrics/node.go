package metrics

import "github.com/prometheus/client_golang/prometheus"

var (
	signalsAge = prometheus.NewDesc("sluice_node_signals_age_seconds",
		"Time since the signals of the node were sampled.", nil, nil)
	cpuUsed = prometheus.NewDesc("sluice_node_cpu_used_ratio",
		"Share of all processors in use: exponential moving average of samples of 1 s, alpha 0.5.", nil, nil)
	pressure = prometheus.NewDesc("sluice_node_pressure_ratio",
		"Share of the last 10 s in which some task waited for a resource.", []string{"resource"}, nil)
	deviceInFlight = prometheus.NewDesc("sluice_node_device_in_flight_requests",
		"Requests in flight on a block device, on average over the last second.", []string{"device"}, nil)
	deviceRead = prometheus.NewDesc("sluice_node_device_read_bytes_per_second",
		"Bytes read from a block device in the last second.", []string{"device"}, nil)
	deviceWrite = prometheus.NewDesc("sluice_node_device_write_bytes_per_second",
		"Bytes written to a block device in the last second.", []string{"device"}, nil)
	deviceUtilisation = prometheus.NewDesc("sluice_node_device_utilisation_ratio",
		"Share of the last second with a request in flight on a block device.", []string{"device"}, nil)
)

// nodeCollector shows the signals of the node as they were sampled last.
type nodeCollector struct {
	source Source
}

// Describe implements prometheus.Collector.
func (c nodeCollector) Describe(descriptions chan<- *prometheus.Desc) {
	for _, description := range []*prometheus.Desc{
		signalsAge, cpuUsed, pressure, deviceInFlight, deviceRead, deviceWrite, deviceUtilisation,
	} {
		descriptions <- description
	}
}

// Collect implements prometheus.Collector.
func (c nodeCollector) Collect(metrics chan<- prometheus.Metric) {
	signals := c.source.NodeSignals()
	metrics <- gauge(signalsAge, c.source.Now().Sub(signals.SampledAt).Seconds())
	metrics <- gauge(cpuUsed, signals.CPUUsed)
	for resource, share := range map[string]float64{
		"cpu": signals.CPUPressure, "io": signals.IOPressure, "memory": signals.MemoryPressure,
	} {
		if share >= 0 { // negative where the kernel does not tell
			metrics <- gauge(pressure, share, resource)
		}
	}
	for _, device := range signals.Devices {
		metrics <- gauge(deviceInFlight, device.InFlight, device.Name)
		metrics <- gauge(deviceRead, device.ReadBytesPerSecond, device.Name)
		metrics <- gauge(deviceWrite, device.WriteBytesPerSecond, device.Name)
		metrics <- gauge(deviceUtilisation, device.Utilisation, device.Name)
	}
}

func gauge(description *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(description, prometheus.GaugeValue, value, labels...)
}

func counter(description *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(description, prometheus.CounterValue, value, labels...)
}
