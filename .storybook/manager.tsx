import React from 'react';
import { addons, types } from 'storybook/manager-api';
import { ChartPanel } from './chart-panel.tsx';

// Storybook compiles the JSX of its own window to calls of a global React.
Object.assign(globalThis, { React });

const CHART = 'wizard-chart/panel';

addons.register('wizard-chart', () => {
  addons.add(CHART, {
    type: types.PANEL,
    title: 'Chart',
    render: ({ active = false }) => <ChartPanel active={active} />,
  });
});
// Most stories have no controls, whose panel is the first.
addons.setConfig({ selectedPanel: CHART });
