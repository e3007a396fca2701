import React from 'react';
import { addons, types } from 'storybook/manager-api';
import { ChartPanel } from './chart-panel.tsx';

// Storybook compiles the JSX of its own window to calls of a global React.
Object.assign(globalThis, { React });

addons.register('wizard-chart', () => {
  addons.add('wizard-chart/panel', {
    type: types.PANEL,
    title: 'Chart',
    render: ({ active = false }) => <ChartPanel active={active} />,
  });
});
