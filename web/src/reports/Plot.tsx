/**
 * Bar charts over time and of rankings. The numbers are in a table next to them, so the drawing is a single image to
 * screen readers.
 */
import { useTheme } from '@mui/material'
import { BarChart } from '@mui/x-charts/BarChart'

interface Series {
  label: string
  colour: string
  data: number[]
}

export interface Plot {
  describe: string
  categories: string[]
  series: Series[]
  /** Formats a value in full, for the tooltip. */
  full: (value: number) => string
  /** Formats a value compactly, for the axis. */
  short: (value: number) => string
  /** Whether bars of one category are stacked. */
  stacked?: boolean
  height?: number
}

const seriesOf = ({ series, full, stacked }: Plot) =>
  series.map(({ label, colour, data }) => ({
    label,
    color: colour,
    data,
    valueFormatter: (value: number | null) => full(value ?? 0),
    ...(stacked && { stack: 'all' }),
  }))

export function TimePlot(plot: Plot) {
  const { describe, categories, short, height = 260 } = plot
  const grid = useGrid()
  const { fontFamily = '' } = useTheme().typography
  return (
    <div role="img" aria-label={describe}>
      <BarChart
        height={height}
        xAxis={[
          {
            data: categories,
            scaleType: 'band',
            categoryGapRatio: 0.35,
            disableLine: true,
            disableTicks: true,
          },
        ]}
        yAxis={[
          {
            valueFormatter: short,
            width: widthOfLabels(plot, fontFamily),
            disableLine: true,
            disableTicks: true,
            tickNumber: TICKS,
          },
        ]}
        series={seriesOf(plot)}
        borderRadius={3}
        grid={{ horizontal: true }}
        skipAnimation
        disableKeyboardNavigation
        margin={{ left: 8, right: 24, top: 8, bottom: 0 }}
        sx={grid}
        slotProps={{ legend: { position: { vertical: 'top', horizontal: 'start' } } }}
      />
    </div>
  )
}

/** How many the axis has, about. */
const TICKS = 5
const LABEL_PIXELS = 12
/** Between the labels and the plot, with some room for the font, which may come later. */
const GAP_PIXELS = 10

/**
 * Room for the longest label that may be between the ends of the axis, such as €500 below €1K: the charts' own `auto`
 * measures the labels of the ends alone, and shortens the others.
 */
function widthOfLabels({ series, stacked, short }: Plot, fontFamily: string): number {
  const values = stacked ? sumsOf(series) : series.flatMap(({ data }) => data)
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  // The steps of the axis are multiples of it, and ten of it no less than one of them.
  const unit = 10 ** Math.floor(Math.log10((high - low || 1) / TICKS))
  const drawing = document.createElement('canvas').getContext('2d')!
  drawing.font = `${LABEL_PIXELS}px ${fontFamily}`
  let widest = 0
  for (let units = Math.floor(low / unit / 10) * 10; units <= Math.ceil(high / unit / 10) * 10; units += 1) {
    widest = Math.max(widest, drawing.measureText(short(units * unit)).width)
  }
  return Math.ceil(widest) + GAP_PIXELS
}

const sumsOf = (series: readonly Series[]) =>
  series[0]!.data.map((_, at) => series.reduce((sum, { data }) => sum + data[at]!, 0))

export function RankPlot(plot: Plot) {
  const { describe, categories, short } = plot
  const grid = useGrid()
  return (
    <div role="img" aria-label={describe}>
      <BarChart
        layout="horizontal"
        height={Math.max(140, categories.length * 30 + 44)}
        yAxis={[
          {
            data: categories,
            scaleType: 'band',
            width: 128,
            categoryGapRatio: 0.4,
            disableLine: true,
            disableTicks: true,
          },
        ]}
        xAxis={[{ valueFormatter: short, disableLine: true, disableTicks: true, tickNumber: 4 }]}
        series={seriesOf(plot)}
        borderRadius={3}
        grid={{ vertical: true }}
        hideLegend
        skipAnimation
        disableKeyboardNavigation
        // Half of the last label, in the longest of currencies.
        margin={{ left: 0, right: 44, top: 4, bottom: 0 }}
        sx={grid}
      />
    </div>
  )
}

function useGrid() {
  const { palette } = useTheme()
  return {
    '& .MuiChartsGrid-line': { stroke: palette.line },
    '& .MuiChartsAxis-tickLabel': { fill: palette.text.secondary, fontSize: LABEL_PIXELS },
  }
}
